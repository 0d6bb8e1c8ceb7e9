import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

/** Longer than any test or hook may take. */
const STALL_MS = 5 * 60_000;

/**
 * Ends a run in which nothing has ended for five minutes, and names what is still running. Vitest has no time limit for the import of
 * a test file, nor for a file that blocks its thread or whose process does not answer.
 */
export default class StallReporter implements Reporter {
  /** The last test that each running file has reported. */
  readonly #running = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  onInit(vitest: Vitest): void {
    vitest.onClose(() => clearTimeout(this.#timer));
  }

  onTestModuleQueued(module: TestModule): void {
    this.#running.set(module.moduleId, "no test");
    this.#wait();
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.set(test.module.moduleId, test.fullName);
    this.#wait();
  }

  onTestCaseResult(): void {
    this.#wait();
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.moduleId);
    this.#wait();
  }

  onTestRunEnd(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      for (const [module, last] of this.#running) console.error(`stalled: ${module} (last reported: ${last})`);
      process.exit(1);
    }, STALL_MS);
  }
}
