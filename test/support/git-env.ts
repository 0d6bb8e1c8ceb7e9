/** Options of git before a command that commits: nothing looks for what to tidy up afterwards, in a process of its own. */
export const WITHOUT_MAINTENANCE = ["-c", "maintenance.auto=false"];

/** Environment of git in tests: the machine's without git's own variables, plus `extra`. */
export function gitEnv(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const key of Object.keys(env)) if (key.startsWith("GIT_")) delete env[key];
  return Object.assign(env, { GIT_CONFIG_NOSYSTEM: "1" }, extra);
}
