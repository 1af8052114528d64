// Reads one counter out of a /metrics page: the text format that Prometheus scrapes.

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n' };

export function readSeries(text: string, name: string): readonly Series[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => {
      // A label value may hold anything, even braces; the number comes after the last one.
      const end = line.lastIndexOf('}');
      const value = Number(
        line
          .slice(Math.max(end, name.length) + 1)
          .trim()
          .split(' ')[0],
      );
      return { labels: end < 0 ? {} : readLabels(line.slice(name.length + 1, end)), value };
    });
}

function readLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(
    pairs.map(([, key = '', value = '']) => [
      key,
      value.replaceAll(/\\(.)/g, (_, letter: string) => ESCAPED[letter] ?? letter),
    ]),
  );
}
