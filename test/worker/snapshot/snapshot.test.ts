/**
 * One file, hence one after the other: the sweep looks at every tenant of the database that all of these share, with a
 * clock that runs ahead.
 */
import "./publish.cases.ts";
import "./build.cases.ts";
import "./sweep.cases.ts";
import "./uploads.cases.ts";
