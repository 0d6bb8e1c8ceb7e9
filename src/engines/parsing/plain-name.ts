/** A name as it is meant: Kotlin, Scala and Swift write those that are keywords, or have spaces, between backticks. */
export function plainName(name: string): string {
  return name.length > 2 && name.startsWith("`") && name.endsWith("`") ? name.slice(1, -1) : name;
}
