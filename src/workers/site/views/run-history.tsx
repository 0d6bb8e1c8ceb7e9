/** Panels of a run's page: when it was in which phase, and what was tried again. */
import type { RunPhase } from "../../../contract/index.ts";
import type { PhaseSpan, Retry, RunHistory } from "../../../service/runs/history.ts";
import { formatCount, spanText } from "./format.ts";
import { Panel, Time } from "./parts.tsx";
import { Table } from "./table.tsx";

const PHASES: Partial<Record<RunPhase, readonly [name: string, text: string]>> = {
  pulling: ["Pulling", "finds the commit and downloads what is new"],
  indexing: ["Indexing", "parses files, finds symbols, embeds chunks"],
  finishing: ["Finishing", "writes the new index and switches to it"],
  building: ["Building", "writes the snapshot and publishes it"],
};

const STEPS: Record<NonNullable<Retry["step"]>, string> = {
  plan: "Pulling",
  shard: "Indexing a part of the files",
  finish: "Finishing",
  build: "Building the snapshot",
};

/** Phases of a run with their times, each beside its share of the whole. */
export function PhasesPanel({
  history,
  createdAt,
  endMs,
}: {
  history: RunHistory;
  /** When the run was asked for. */
  createdAt: string;
  /** When it ended; now, if it has not. */
  endMs: number;
}) {
  const startMs = Date.parse(createdAt);
  const first = Math.min(...history.spans.map(({ from }) => from));
  if (history.spans.length === 0) return null;
  const whole = Math.max(1, endMs - startMs);
  const attempts = new Set(history.spans.map(({ attempt }) => attempt));
  const share = (from: number, to: number) => ({
    x: (100 * (from - startMs)) / whole,
    width: Math.max(0.5, (100 * (to - from)) / whole),
  });
  const row = (name: string, text: string, from: number, to: number, isOpen: boolean) => (
    <tr>
      <th scope="row">
        {name} <span class="soft small">{text}</span>
      </th>
      <td class="wide">
        <svg class="span" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect {...share(from, to)} y="0" height="8" />
        </svg>
      </td>
      <td class="num">{spanText(from - startMs)}</td>
      <td class="num">{isOpen ? `${spanText(to - from)} so far` : spanText(to - from)}</td>
    </tr>
  );
  const named = (span: PhaseSpan) => {
    const [name, text] = PHASES[span.phase] ?? [span.phase, ""];
    return [attempts.size > 1 ? `${name}, attempt ${span.attempt}` : name, text] as const;
  };
  return (
    <Panel title="Phases" text="Pulling and indexing overlap in large repositories.">
      <Table label="Phases of the run" headings={["Phase", "When", { num: "Began after" }, { num: "Took" }]}>
        {first > startMs && row("Waiting", "for its turn", startMs, first, false)}
        {history.spans.map((span) => {
          const [name, text] = named(span);
          return row(name, text, span.from, span.to ?? endMs, span.to === null);
        })}
      </Table>
    </Panel>
  );
}

/** What was tried again, when and why. */
export function RetriesPanel({ history }: { history: RunHistory }) {
  if (history.retryCount === 0) return null;
  const hidden = history.retryCount - history.retries.length;
  return (
    <Panel
      title="Tried again"
      text={
        hidden > 0
          ? `${formatCount(history.retryCount)} times; the last ${formatCount(history.retries.length)} are listed.`
          : "Failures that did not end the run."
      }
    >
      <Table label="Retries" headings={["When", "What failed", "Why", "Then"]}>
        {history.retries.map((retry) => (
          <tr>
            <td>
              <Time at={new Date(retry.at)} />
            </td>
            <th scope="row">{retry.step === null ? "The worker" : STEPS[retry.step]}</th>
            <td class="wide">
              {retry.error} <code class="small">{retry.reason ?? retry.code}</code>
            </td>
            <td>{nextText(retry)}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

function nextText({ action, attempt, waitSec }: Retry): string {
  const next = action === "restart" ? `attempt ${attempt + 1}` : "the same step again";
  return waitSec > 0 ? `${next}, after a wait of ${waitSec} s` : next;
}
