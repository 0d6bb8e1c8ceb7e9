/** Imports that lead into a folder. */
import { FileImports } from "../../../engines/relations/file-imports.ts";
import { isWithin } from "../../../engines/relations/modules.ts";
import { isC, packageOf, packageRuleOf } from "../../../engines/relations/packages.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { Import } from "../../../engines/relations/types.ts";
import type { Certainty } from "./found.ts";
import { importedFiles, isOfPackage } from "./imported.ts";

/** Files of a folder of which the package is read, and headers and the like that are looked for one by one. */
const MAX_FILES = 50;

export class FolderImports {
  readonly #files: QuestionFiles;
  readonly #isInside: (path: string) => boolean;
  /** Packages that the files of the folder state. */
  readonly #packages: ReadonlySet<string>;
  readonly #spelled: readonly FileImports[];

  private constructor(
    files: QuestionFiles,
    isInside: (path: string) => boolean,
    { packages, spelled }: { packages: ReadonlySet<string>; spelled: readonly FileImports[] },
  ) {
    this.#files = files;
    this.#isInside = isInside;
    this.#packages = packages;
    this.#spelled = spelled;
  }

  /** The imports that lead into a folder; undefined if no file is in it. */
  static async of(files: QuestionFiles, path: string): Promise<FolderImports | undefined> {
    const isInside = isWithin(path);
    const own = files.paths.filter(isInside);
    if (own.length === 0) return undefined;
    const packages = new Set<string>();
    const stating = own.filter((each) => packageRuleOf(each) && !isC(each) && !each.endsWith(".go"));
    for (const each of stating.slice(0, MAX_FILES)) {
      const uses = await files.uses(each);
      if (uses) packages.add(packageOf(uses));
    }
    packages.delete("");
    const looked = own.filter((each) => FileImports.isSpelled(files.language(each))).slice(0, MAX_FILES);
    const spelled = await Promise.all(looked.map((each) => FileImports.of(files, each)));
    return new FolderImports(files, isInside, { packages, spelled });
  }

  /** How sure it is that an import of a file leads into the folder; undefined if it does not, or if the file is in the folder itself. */
  async certaintyOf(from: string, each: Import): Promise<Certainty | undefined> {
    if (this.#isInside(from)) return undefined;
    if (from.endsWith(".go")) {
      const folder = (await this.#files.goModules(from)).packageFolder(each.module);
      return folder !== undefined && this.#isInside(`${folder}/`) ? "certain" : undefined;
    }
    for (const name of this.#packages) if (isOfPackage(each, name)) return "certain";
    const entry = (await importedFiles(from, each, this.#files)).find(({ path }) => this.#isInside(path));
    if (entry) return entry.isStated ? "certain" : "likely";
    const sure = this.#spelled.map((own) => own.certaintyOf(from, each));
    return sure.find((own) => own === "certain") ?? sure.find((own) => own !== undefined);
  }
}
