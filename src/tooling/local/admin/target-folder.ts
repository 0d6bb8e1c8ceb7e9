import { makeFolder } from "../../../cli/machine/folders.ts";
import { errnoOf, OperatorError } from "../../errors.ts";

/** Makes the folder given by `--to`, or one inside it. Throws `OperatorError` if it cannot be made. */
export function makeTarget(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new OperatorError(
      `--to: the folder ${folder} cannot be made (${errnoOf(error) ?? "unknown error"}): choose one that can be written`,
    );
  }
}
