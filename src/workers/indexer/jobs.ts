import type { Logger } from "../../lib/log.ts";

/**
 * Runs scheduled jobs one after another. A job that fails keeps none of the others from running. Throws an `AggregateError` at the end
 * if any has failed, so that the platform counts the invocation as failed.
 */
export async function runJobs(jobs: Record<string, () => Promise<void>>, log: Logger): Promise<void> {
  const failed: unknown[] = [];
  for (const [job, run] of Object.entries(jobs)) {
    try {
      await run();
    } catch (error) {
      log.error("job_failed", error, { job });
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} scheduled jobs failed`);
}
