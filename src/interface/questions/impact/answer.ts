/** The answer to what a change concerns. */
import type { Certainty } from "../relations/found.ts";
import type { InterfaceChange } from "./interfaces.ts";

export interface ChangedSymbol {
  path: string;
  /** Qualified name; null where the change touches no definition of the file. */
  symbol: string | null;
  kind: string | null;
  /** Line of its name. */
  line: number | null;
}

/** A file that likely needs a change too, or a run. */
export interface ImpactFile {
  path: string;
  test: boolean;
  /** Short sentences, the strongest first. */
  because: string[];
}

export interface Dependent {
  /** The index that the file is in: one whose package imports that of the change may be another one. */
  revision: number;
  path: string;
  line: number;
  enclosing: string | null;
  certainty: Certainty;
  /** Calls between it and the change; 1 is a direct one. */
  distance: number;
  because: string;
}

export interface ReachingTest {
  /** As in `Dependent`. */
  revision: number;
  path: string;
  /** The definition that reaches the change; null if the file is only named like it. */
  symbol: string | null;
  certainty: Certainty;
}

export interface ImpactAnswer {
  /** The index that the change is of. */
  revision: number;
  changed: ChangedSymbol[];
  files: ImpactFile[];
  dependents: Dependent[];
  tests: ReachingTest[];
  interfaces: InterfaceChange[];
  /** Null where no history is at hand. */
  usuallyTogether: { path: string; times: number; of: number }[] | null;
  /** How much there is in all. */
  total: { changed: number; files: number; dependents: number; tests: number; interfaces: number };
  truncated: boolean;
  /** As in `RelationAnswer`: nothing in the index defines the name that was asked for. */
  outside?: string[];
}
