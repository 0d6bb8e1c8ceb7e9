/**
 * Waits for the next rate-limit window if the current one ends within `needMs`: for tests that count requests of one window by the
 * real clock. Windows are aligned to the Unix epoch.
 */
export async function roomInWindow(windowSec: number, needMs: number): Promise<void> {
  const leftMs = windowSec * 1_000 - (Date.now() % (windowSec * 1_000));
  if (leftMs < needMs) await new Promise((resolve) => setTimeout(resolve, leftMs));
}
