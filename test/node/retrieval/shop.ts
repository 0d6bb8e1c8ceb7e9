import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { fileParser } from "../../../src/cli/indexing/parse-file.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import type { SearchIndex } from "../../../src/engines/search/search-index.ts";
import type { SourceContent, TextSource } from "../../../src/engines/search/types.ts";
import { openFiles, segmentOf, sha256, type TestFile } from "./support.ts";

/** A small web shop in several languages, to ask about. */
const SOURCES: Record<string, string> = {
  "src/cart/cart.ts": `
/** The goods a customer is about to buy. */
export class Cart {
  private readonly lines = new Map<string, CartLine>();
  addItem(sku: string, quantity: number): void {
    const known = this.lines.get(sku);
    this.lines.set(sku, { sku, quantity: (known?.quantity ?? 0) + quantity });
  }
  removeItem(sku: string): void { this.lines.delete(sku); }
  totalPrice(priceOf: (sku: string) => number): number {
    let total = 0;
    for (const { sku, quantity } of this.lines.values()) total += priceOf(sku) * quantity;
    return total;
  }
}
export interface CartLine { sku: string; quantity: number }
`,
  "src/cart/discount.ts": `
import type { Cart } from "./cart";
/** Takes a voucher's percentage off the price, never below zero. */
export function applyDiscount(cart: Cart, percent: number): number {
  return Math.max(0, cart.totalPrice(() => 1) * (1 - percent / 100));
}
`,
  "src/checkout/payment_gateway.ts": `
export class PaymentGateway {
  /** Charges the card and retries after a timeout, with exponential backoff. */
  async charge(card: string, cents: number): Promise<Receipt> {
    for (let attempt = 0; attempt < 3; attempt++) {
      try { return await this.send(card, cents); } catch { await backoff(attempt); }
    }
    throw new PaymentDeclined(card);
  }
  private async send(card: string, cents: number): Promise<Receipt> { return { card, cents }; }
}
export class PaymentDeclined extends Error {}
export interface Receipt { card: string; cents: number }
async function backoff(attempt: number): Promise<void> { await new Promise((done) => setTimeout(done, 2 ** attempt)); }
`,
  "src/checkout/index.ts": `
import { PaymentGateway } from "./payment_gateway";
/** Places the order: reserves the stock, charges the card, sends the mail. */
export async function placeOrder(gateway: PaymentGateway, card: string, cents: number): Promise<void> {
  await gateway.charge(card, cents);
}
`,
  "src/auth/session.py": `
class SessionStore:
    """Keeps who is signed in; a session ends after thirty minutes without a request."""
    def __init__(self, clock):
        self.clock = clock
        self.sessions = {}
    def open_session(self, user):
        token = make_token(user)
        self.sessions[token] = (user, self.clock())
        return token
    def expire_sessions(self):
        limit = self.clock() - 1800
        self.sessions = {t: s for t, s in self.sessions.items() if s[1] > limit}

def make_token(user):
    return user + "-token"
`,
  "src/auth/password.py": `
import hashlib
def hash_password(password, salt):
    """Derives a key from the password, so that a stolen database tells nothing."""
    return hashlib.scrypt(password, salt=salt, n=2**14, r=8, p=1)
def verify_password(password, salt, expected):
    return hash_password(password, salt) == expected
`,
  "lib/inventory.go": `
package inventory
// Stock counts what lies in the warehouse.
type Stock struct { counts map[string]int }
// Reserve takes goods off the shelf until the order is paid.
func (s *Stock) Reserve(sku string, n int) error {
	if s.counts[sku] < n { return ErrSoldOut }
	s.counts[sku] -= n
	return nil
}
// Release puts reserved goods back.
func (s *Stock) Release(sku string, n int) { s.counts[sku] += n }
`,
  "lib/mailer.rb": `
module Shop
  # Sends mail about orders.
  class Mailer
    def deliver(address, subject, body)
      @transport.write(address, subject, body)
    end
  end
end
`,
  "src/search/tokenizer.ts": `
/** Splits a product's description into words for the catalogue search. */
export function tokenize(text: string): string[] { return text.toLowerCase().split(/[^a-z0-9]+/); }
`,
  "src/legacy/cart.ts": `
export class Cart { addItem(sku: string): void { console.log(sku); } totalPrice(): number { return 0; } }
`,
  "src/utils/date.ts": `
/** Formats a date as ISO 8601, in UTC. */
export function formatDate(date: Date): string { return date.toISOString().slice(0, 10); }
`,
  "tests/cart.test.ts": `
import { Cart } from "../src/cart/cart";
test("the cart adds an item and sums up the total price", () => {
  const cart = new Cart();
  cart.addItem("apple", 2);
  cart.addItem("apple", 1);
  expect(cart.totalPrice(() => 10)).toBe(30);
});
test("removes an item from the cart", () => { const cart = new Cart(); cart.removeItem("apple"); });
`,
  "tests/test_session.py": `
def test_session_expires():
    store = SessionStore(lambda: 0)
    token = store.open_session("ann")
    store.expire_sessions()
    assert token not in store.sessions
`,
  "docs/payments.md": `
# Payments
The payment gateway charges the card. After a timeout the charge is tried again.
## Declined cards
A declined card ends the checkout.
`,
  "docs/cart.md": `
# The cart
Add items to the cart, remove them, and read the total price.
`,
  "examples/checkout_demo.ts": `
import { placeOrder } from "../src/checkout";
// Example: place an order with a card.
await placeOrder(gateway, "4242", 1000);
`,
  "config/shop.json": `{ "currency": "EUR", "sessionMinutes": 30, "payment": { "retries": 3 } }`,
};

const LANGUAGE: Record<string, LanguageId> = {
  ts: "typescript",
  py: "python",
  go: "go",
  rb: "ruby",
  md: "markdown",
  json: "json",
};

/** The shop, parsed and indexed, with its texts. */
export async function openShop(): Promise<{ index: SearchIndex; texts: TextSource }> {
  const parse = fileParser(undefined);
  const contents = new Map<string, SourceContent & { signatures: string[] }>();
  const analyses: Uint8Array[] = [];
  const files: TestFile[] = [];
  for (const [path, text] of Object.entries(SOURCES)) {
    const language = LANGUAGE[path.slice(path.lastIndexOf(".") + 1)] as LanguageId;
    const outcome = await parse(new TextEncoder().encode(text), language);
    if (!("file" in outcome)) throw new Error(`${path} was left out`);
    const { chunks, symbols } = outcome.file;
    const signatures = symbols.map(({ signature }) => signature);
    contents.set(sha256(text), { sha256: sha256(text), language, chunks, symbols, signatures });
    analyses.push(outcome.analysis);
    files.push({ path, language, text });
  }
  const index = await openFiles(files, [await segmentOf(buildSegment(analyses))]);
  const texts: TextSource = (wanted) =>
    wanted.map(({ sha256: hash, chunks, symbols }) => ({
      chunks: chunks.map(({ ordinal }) => contents.get(hash)?.chunks[ordinal]?.text ?? ""),
      signatures: symbols.map((ordinal) => contents.get(hash)?.signatures[ordinal] ?? ""),
    }));
  return { index, texts };
}
