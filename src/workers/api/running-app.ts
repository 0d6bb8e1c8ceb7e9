import { createApp } from "./app.ts";

/** The isolate's application, which both of the Worker's entry points answer with. */
export const app = createApp();
