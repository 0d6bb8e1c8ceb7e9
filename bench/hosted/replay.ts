/** The same questions to two stacks: one that indexed a history commit by commit, one that indexed its end only. */
import type { RunningService } from "../../src/tooling/local/stack/service.ts";
import { answerTo, indexRef, newTeam, questionsAbout, spread, tagsOf } from "./team.ts";

const PUSHES = 12;

/** Records the answers of the first stack, replays the questions on a second one, and prints how many answers differ. */
export async function benchReplay(
  { running, url, repository }: { running: RunningService; url: string; repository: string },
  startSecond: () => Promise<RunningService>,
  count: number,
): Promise<void> {
  const pushes = spread(tagsOf(repository), PUSHES);
  const last = pushes.at(-1) ?? "HEAD";
  const questions = questionsAbout(repository, last, count);
  const first = await newTeam(running.service);
  for (const ref of pushes) await indexRef(first, url, ref);
  const recorded: string[] = [];
  for (const question of questions) recorded.push(await answerTo(question, first));
  const second = await startSecond();
  try {
    const team = await newTeam(second.service);
    await indexRef(team, url, last);
    let different = 0;
    for (const [i, question] of questions.entries()) {
      const answer = await answerTo(question, team);
      if (answer === recorded[i]) continue;
      different++;
      console.log(`  question ${i} differs:\n    ${recorded[i]?.slice(0, 300)}\n    ${answer.slice(0, 300)}`);
    }
    const missed = recorded.filter((answer) => answer.startsWith('{"code"')).length;
    console.log(
      `${questions.length} questions replayed on a second stack: ${different} answers differ (${missed} of them were "not found" on both)`,
    );
  } finally {
    await second.stop();
  }
}
