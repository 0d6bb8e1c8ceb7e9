/**
 * Runs for each test file. The files share a workerd: alarms of the objects that the files before have left would go off at the clock
 * that a test has set.
 */
import { reset } from "cloudflare:test";
import { afterAll } from "vitest";

afterAll(reset);
