// Command-line options of the ladder; every wrong one is named.

import type { RungName } from './rungs.ts';
import { rungs } from './rungs.ts';

export type Options =
  | {
      readonly do: 'run';
      readonly chosen: readonly RungName[];
      readonly showsTimes: boolean;
      readonly onlyChanged: boolean;
    }
  | { readonly do: 'help' }
  | { readonly do: 'refuse'; readonly why: string };

export function usage(): string {
  const rows = rungs.map((rung) => `  ${rung.name.padEnd(22)} ${rung.title}`);
  return [
    'npm test                          climbs every rung, beside each other',
    'npm test -- unit                  climbs some, and what they stand on',
    'npm test -- --only unit,lint      the same',
    'npm test -- --changed             leaves out what passed here and nothing of it has changed',
    'npm test -- --times               says at the end which rungs and files cost most, and',
    '                                  has the longest begin first from now on',
    '',
    ...rows,
    '',
    'With CI=true in the environment a rung that had to be left out is a failure.',
    '',
  ].join('\n');
}

/** `strict` is a continuous build, which takes nobody's word for what passed. */
export function readOptions(args: readonly string[], strict: boolean): Options {
  const names: string[] = [];
  let onlyChanged = false;
  let showsTimes = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--help' || word === '-h') return { do: 'help' };
    if (word === '--times') {
      showsTimes = true;
    } else if (word === '--changed') {
      if (strict) return { do: 'refuse', why: 'With CI=true all is climbed: leave out --changed.' };
      onlyChanged = true;
    } else if (word === '--only') {
      at += 1;
      const value = args[at];
      if (value === undefined) return { do: 'refuse', why: '--only wants the names of rungs.' };
      names.push(...split(value));
    } else if (word.startsWith('--only=')) {
      names.push(...split(word.slice('--only='.length)));
    } else if (word.startsWith('-')) {
      return { do: 'refuse', why: `There is no option ${word}.` };
    } else {
      names.push(...split(word));
    }
  }
  const unknown = names.find((name) => !rungs.some((rung) => rung.name === name));
  if (unknown !== undefined) return { do: 'refuse', why: `There is no rung called ${unknown}.` };
  return { do: 'run', chosen: withFoundations(names), showsTimes, onlyChanged };
}

const split = (value: string): string[] => value.split(',').filter((name) => name !== '');

/**
 * The named rungs in ladder order, with every rung that one of them needs; all when none is named.
 */
function withFoundations(names: readonly string[]): RungName[] {
  if (names.length === 0) return rungs.map((rung) => rung.name);
  const lanes = rungs.filter(({ name }) => names.includes(name.split(':')[0] ?? ''));
  const wanted = new Set<string>([...names, ...lanes.map(({ name }) => name)]);
  for (const rung of rungs.toReversed()) {
    if (wanted.has(rung.name)) rung.needs.forEach((need) => wanted.add(need));
  }
  return rungs.map((rung) => rung.name).filter((name) => wanted.has(name));
}
