const REASONS: Record<string, string> = {
  unknown_type: "type not known",
  too_large: "too large",
  binary: "binary",
  lfs: "Git LFS pointer",
  generated: "generated",
  minified: "minified",
  utf16: "UTF-16",
  symlink: "symbolic link",
  submodule: "submodule",
  excluded: "excluded by a glob",
  vendored: "vendored",
};

/** Name of a reason for which a file is left out of an index or a search. */
export const reasonText = (reason: string) => REASONS[reason] ?? reason.replaceAll("_", " ");
