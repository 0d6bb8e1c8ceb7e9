/** A likely secret; offsets are UTF-16 code units, the end is exclusive. */
export interface SecretRange {
  start: number;
  end: number;
  rule: string;
}

interface SecretRule {
  rule: string;
  /** Text that must occur for the pattern to be tried at all. */
  hints: readonly string[];
  /** Group 1, where there is one, is the secret. */
  pattern: RegExp;
  /** The shape alone is no proof: the secret must also look random. */
  needsEntropy?: boolean;
}

/** Shapes that issuers publish for scanners, each with a prefix of its own or a name beside it. */
const RULES: readonly SecretRule[] = [
  {
    rule: "private-key",
    hints: ["PRIVATE KEY"],
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,64}?[A-Za-z0-9+/=]{16}[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$(?![\s\S]))/g,
  },
  {
    rule: "aws-access-key",
    hints: ["AKIA", "ASIA", "ABIA", "ACCA"],
    pattern: /(?<![A-Za-z0-9])((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?![A-Za-z0-9])/g,
  },
  {
    rule: "aws-secret-key",
    hints: ["aws", "AWS"],
    pattern: /aws_?(?:secret)?_?(?:access)?_?key\w*["']?\s*[:=]+>?\s*["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
    needsEntropy: true,
  },
  { rule: "gcp-api-key", hints: ["AIza"], pattern: /(?<![\w-])(AIza[\w-]{35})(?![\w-])/g, needsEntropy: true },
  { rule: "gcp-oauth-secret", hints: ["GOCSPX-"], pattern: /(?<![\w-])(GOCSPX-[\w-]{28})(?![\w-])/g },
  { rule: "google-oauth-token", hints: ["ya29."], pattern: /(?<![\w-])(ya29\.[\w-]{50,})/g },
  {
    rule: "azure-storage-key",
    hints: ["AccountKey"],
    pattern: /AccountKey\s*=\s*([A-Za-z0-9+/]{86}==)/g,
    needsEntropy: true,
  },
  {
    rule: "azure-client-secret",
    hints: ["8Q~"],
    pattern: /(?<![\w~.-])([\w~.-]{3}8Q~[\w~.-]{31,34})(?![\w~.-])/g,
    needsEntropy: true,
  },
  {
    rule: "github-token",
    hints: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    pattern: /(?<![A-Za-z0-9])(gh[pousr]_[A-Za-z0-9]{36,251})(?![A-Za-z0-9])/g,
    needsEntropy: true,
  },
  {
    rule: "github-fine-grained-token",
    hints: ["github_pat_"],
    pattern: /(?<![A-Za-z0-9])(github_pat_[A-Za-z0-9_]{60,255})/g,
    needsEntropy: true,
  },
  {
    rule: "gitlab-token",
    hints: ["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"],
    pattern: /(?<![\w-])(gl(?:pat|dt|rt|ptt|cbt|soat)-[\w.-]{20,})/g,
    needsEntropy: true,
  },
  {
    rule: "slack-token",
    hints: ["xox"],
    pattern: /(?<![A-Za-z0-9])(xox[abeoprs]-(?:\d-)?[A-Za-z0-9]{8,}-[A-Za-z0-9-]{10,})/g,
    needsEntropy: true,
  },
  { rule: "slack-app-token", hints: ["xapp-"], pattern: /(?<![A-Za-z0-9])(xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{32,})/g },
  {
    rule: "slack-webhook",
    hints: ["hooks.slack.com"],
    pattern: /(https:\/\/hooks\.slack\.com\/(?:services|workflows)\/T[A-Z0-9]{8,}\/[A-Z0-9]{8,}\/[A-Za-z0-9]{20,})/g,
    needsEntropy: true,
  },
  {
    rule: "discord-webhook",
    hints: ["discord"],
    pattern: /(https:\/\/discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,})/g,
  },
  {
    rule: "stripe-key",
    hints: ["sk_live_", "rk_live_", "sk_test_", "rk_test_"],
    pattern: /(?<![A-Za-z0-9])([sr]k_(?:live|test)_[A-Za-z0-9]{20,247})/g,
    needsEntropy: true,
  },
  {
    rule: "stripe-webhook-secret",
    hints: ["whsec_"],
    pattern: /(?<![A-Za-z0-9])(whsec_[A-Za-z0-9+/]{32,}={0,2})/g,
    needsEntropy: true,
  },
  {
    rule: "npm-token",
    hints: ["npm_"],
    pattern: /(?<![A-Za-z0-9_])(npm_[A-Za-z0-9]{36})(?![A-Za-z0-9])/g,
    needsEntropy: true,
  },
  { rule: "pypi-token", hints: ["pypi-AgE"], pattern: /(?<![\w-])(pypi-AgE[\w-]{50,})/g },
  { rule: "rubygems-key", hints: ["rubygems_"], pattern: /(?<![A-Za-z0-9])(rubygems_[a-f0-9]{48})(?![a-f0-9])/g },
  {
    rule: "openai-key",
    hints: ["sk-"],
    pattern:
      /(?<![\w-])(sk-(?:(?:proj|svcacct|admin|None)-[\w-]{20,}T3BlbkFJ[\w-]{20,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|(?:proj|svcacct|admin)-[\w-]{64,}))/g,
    needsEntropy: true,
  },
  {
    rule: "anthropic-key",
    hints: ["sk-ant-"],
    pattern: /(?<![\w-])(sk-ant-(?:api|admin|sid|oat)\d{2}-[\w-]{40,})/g,
    needsEntropy: true,
  },
  {
    rule: "huggingface-token",
    hints: ["hf_"],
    pattern: /(?<![A-Za-z0-9_])(hf_[A-Za-z]{34})(?![A-Za-z0-9])/g,
    needsEntropy: true,
  },
  { rule: "voyage-key", hints: ["pa-"], pattern: /(?<![\w-])(pa-[A-Za-z0-9_-]{43})(?![\w-])/g, needsEntropy: true },
  { rule: "jina-key", hints: ["jina_"], pattern: /(?<![A-Za-z0-9])(jina_[a-f0-9]{32}[\w-]{20,})/g },
  { rule: "sendgrid-key", hints: ["SG."], pattern: /(?<![\w.-])(SG\.[\w-]{22}\.[\w-]{43})(?![\w-])/g },
  {
    rule: "mailgun-key",
    hints: ["mailgun", "Mailgun", "MAILGUN"],
    pattern: /mailgun[^\n]{0,40}?(?<![\w-])(key-[a-f0-9]{32})(?![a-f0-9])/gi,
  },
  {
    rule: "twilio-key",
    hints: ["twilio", "Twilio", "TWILIO"],
    pattern: /twilio[^\n]{0,60}?(?<![A-Za-z0-9])(SK[a-f0-9]{32}|[a-f0-9]{32})(?![a-f0-9])/gi,
    needsEntropy: true,
  },
  {
    rule: "digitalocean-token",
    hints: ["dop_v1_", "doo_v1_", "dor_v1_"],
    pattern: /(?<![A-Za-z0-9])(do[opr]_v1_[a-f0-9]{64})(?![a-f0-9])/g,
  },
  {
    rule: "cloudflare-token",
    hints: ["CLOUDFLARE", "cloudflare", "CF_API"],
    pattern: /(?:cloudflare|\bcf)_?(?:api)?_?(?:token|key)["']?\s*[:=]+>?\s*["']?([A-Za-z0-9_-]{37,40})(?![\w-])/gi,
    needsEntropy: true,
  },
  {
    rule: "shopify-token",
    hints: ["shpat_", "shpss_", "shpca_", "shppa_"],
    pattern: /(?<![A-Za-z0-9])(shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32})(?![a-fA-F0-9])/g,
  },
  { rule: "databricks-token", hints: ["dapi"], pattern: /(?<![A-Za-z0-9])(dapi[a-f0-9]{32}(?:-\d)?)(?![a-f0-9])/g },
  { rule: "linear-key", hints: ["lin_api_"], pattern: /(?<![A-Za-z0-9])(lin_api_[A-Za-z0-9]{40})(?![A-Za-z0-9])/g },
  { rule: "telegram-token", hints: [":AA"], pattern: /(?<![\w:])(\d{8,10}:AA[\w-]{33})(?![\w-])/g, needsEntropy: true },
  { rule: "age-key", hints: ["AGE-SECRET-KEY-"], pattern: /(AGE-SECRET-KEY-1[0-9A-Z]{58})/g },
  {
    rule: "vault-token",
    hints: ["hvs.", "hvb."],
    pattern: /(?<![\w.])(hv[sb]\.[\w-]{24,})(?![\w-])/g,
    needsEntropy: true,
  },
  {
    rule: "code-context-credential",
    hints: ["cc_live_", "cc_wrk_"],
    pattern: /(?<![A-Za-z0-9])(cc_(?:live|wrk)_[A-Za-z0-9]{6,}_[A-Za-z0-9]{40,})(?![A-Za-z0-9])/g,
    needsEntropy: true,
  },
  {
    rule: "url-credentials",
    hints: ["://"],
    pattern:
      /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?|https?|ftp):\/\/[\w.%+-]+:([^\s:@/"'`<>${}()]{12,})@[\w-]+(?:\.[\w-]+)+/g,
    needsEntropy: true,
  },
];

/** Words that documentation and tests put into keys so that nobody takes them for real. */
const PLACEHOLDER =
  /example|sample|placeholder|your[_-]?|changeme|change[_-]me|dummy|fake|mock|redacted|insert|replace|todo|xxxx|\*{3}|\.{3}|<[^>]*>|\$\{|\{\{|%[({]|test[_-]?(?:key|token|secret)|not[_-]?a[_-]?real|abcdefgh|12345678|deadbeef|0123456789|(.)\1{5}/i;
/** Bits a character of random base62 are near 4 over 30 characters; words and paths stay below. */
const MIN_ENTROPY_BITS = 3.2;
const MIN_ASSIGNED_ENTROPY_BITS = 3.6;

/** One pass that tells the many texts with nothing to look at from the few. */
const ANY_HINT = new RegExp(
  [...new Set(RULES.flatMap((rule) => rule.hints))]
    .map((hint) => hint.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|"),
  "g",
);

/** Likely secrets of a text, by position; overlapping finds of several rules are all given. */
export function findSecrets(text: string): SecretRange[] {
  const found: SecretRange[] = [];
  const hints = new Set<string>();
  for (const [hint] of text.matchAll(ANY_HINT)) hints.add(hint);
  // Of hints that begin alike (`sk-`, `sk-ant-`) the one pass reports only one.
  const seen = [...hints];
  for (const rule of RULES) {
    if (rule.hints.some((hint) => seen.some((other) => other.includes(hint) || hint.includes(other))))
      collect(rule, text, found);
  }
  collectAssigned(text, found);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

function collect({ rule, pattern, needsEntropy }: SecretRule, text: string, found: SecretRange[]): void {
  for (const match of text.matchAll(pattern)) {
    const secret = match[1] ?? match[0];
    const start = match.index + (match[1] === undefined ? 0 : match[0].lastIndexOf(secret));
    if (isPlaceholder(rule, secret, match[0])) continue;
    if (needsEntropy && entropy(secret) < MIN_ENTROPY_BITS) continue;
    found.push({ start, end: start + secret.length, rule });
  }
}

const QUOTED_TOKEN = /["'](?=([A-Za-z0-9+/_=.~-]{24,200})["'])/g;
const SECRET_NAME =
  /(?:api[_-]?key|secret[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?token|access[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key|signing[_-]?(?:key|secret)|passw(?:or)?d|pwd)["']?\s*(?::|=>?|:=)\s*$/i;
const NAME_WINDOW_CHARACTERS = 40;

/** A random-looking literal that is assigned to a name such as `api_key`. */
function collectAssigned(text: string, found: SecretRange[]): void {
  for (const match of text.matchAll(QUOTED_TOKEN)) {
    const secret = match[1]!;
    if (!SECRET_NAME.test(text.slice(Math.max(0, match.index - NAME_WINDOW_CHARACTERS), match.index))) continue;
    if (PLACEHOLDER.test(secret) || !looksRandom(secret)) continue;
    found.push({ start: match.index + 1, end: match.index + 1 + secret.length, rule: "assigned-secret" });
  }
}

function isPlaceholder(rule: string, secret: string, whole: string): boolean {
  if (rule === "private-key")
    return /(?:\.{3}|…|<[a-z ]+>|your[ _-]?(?:private[ _-]?)?key)/i.test(whole.slice(0, 200)) && whole.length < 400;
  // A password in a URL may be short: letters alone are a word in a manual.
  return PLACEHOLDER.test(secret) || (rule === "url-credentials" && !/\d/.test(secret));
}

/** With only a name to go by, what reads like words or dotted names is no secret. */
function looksRandom(secret: string): boolean {
  return (
    /\d.*\d/.test(secret) &&
    /[a-zA-Z]/.test(secret) &&
    !/^[a-z]+(?:[._-][a-z]+)+\d*$/i.test(secret) &&
    entropy(secret) >= MIN_ASSIGNED_ENTROPY_BITS
  );
}

/** Shannon entropy in bits a character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
