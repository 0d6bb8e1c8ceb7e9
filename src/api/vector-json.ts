/** A vector as JSON text. */
export function vectorJson(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}
