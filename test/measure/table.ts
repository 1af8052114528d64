// Rows of a table in Markdown.

export const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const mega = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
