/** Writes metrics in the OpenMetrics text format (https://openmetrics.io), which Prometheus and most collectors read. */
export const OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = Record<string, string | number>;

export interface Metric {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** `suffix` is `_total`, `_bucket`, `_count`, `_sum` or empty. */
  samples: { suffix?: string; labels?: Labels; value: number }[];
}

export function writeOpenMetrics(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(({ name, type, help, samples }) => [
    `# TYPE ${name} ${type}`,
    `# HELP ${name} ${escape(help)}`,
    ...samples.map(({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}`),
  ]);
  return `${[...lines, "# EOF"].join("\n")}\n`;
}

function labelText(labels: Labels): string {
  const entries = Object.entries(labels);
  return entries.length === 0
    ? ""
    : `{${entries.map(([name, value]) => `${name}="${escape(String(value))}"`).join(",")}}`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
