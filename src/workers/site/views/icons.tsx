/** Line icons on a 24-pixel grid, drawn for this dashboard. */
const PATHS = {
  check: "M5 12l4 4L19 6",
  repositories: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
  runs: "M7 5l11 7-11 7z",
  search: "M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15.5 15.5L20 20",
  connect: "M9 7H7a5 5 0 0 0 0 10h2M15 7h2a5 5 0 0 1 0 10h-2M8 12h8",
  team: "M9 5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM2.5 20a6.5 6.5 0 0 1 13 0M16 5.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6.5 6.5 0 0 1 3.5 5.5",
  usage: "M4 20V4M4 20h16M8.5 16v-4M13 16V8M17.5 16v-6",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM9 15a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  help: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM9.8 9.8a2.2 2.2 0 1 1 3.4 1.8c-.8.5-1.2 1-1.2 1.9M12 16.4v.2",
  user: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4.5 20a7.5 7.5 0 0 1 15 0",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4v16",
  chevron: "M8 10l4 4 4-4",
  menu: "M4 7h16M4 12h16M4 17h16",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon, hidden from screen readers; the text beside it has its meaning. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
