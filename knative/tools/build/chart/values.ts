// values.yaml of the chart: files/values.yaml, with functions, settings and what servers may run as
// the manifests have them. Pure.
import { imageIn } from './marked.ts';
import { NEEDED_FUNCTION } from './templates.ts';

export interface Source {
  /** Every function that the chart has. */
  readonly functions: readonly string[];
  /** The functions that have images, which are more. */
  readonly images: readonly string[];
  readonly settings: readonly Setting[];
  /** By servers: what their images may begin with. */
  readonly allowedImages: Readonly<Record<string, readonly string[]>>;
}

interface Setting {
  readonly name: string;
  readonly value: string;
  /** Its lines, as they stand above it. */
  readonly comment: readonly string[];
}

/** `text` has lines `NAME=value` with comments above them. */
export function settingsIn(text: string): readonly Setting[] {
  const settings: Setting[] = [];
  let comment: string[] = [];
  for (const line of text.trim().split('\n')) {
    const [, name, value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name === undefined) comment.push(line);
    else {
      settings.push({ name, value, comment });
      comment = [];
    }
  }
  return settings;
}

/** Without those that name an image, which follow from the images. */
export const ownSettings = ({ settings }: Source): readonly Setting[] =>
  settings.filter(({ value }) => imageIn(value) === undefined);

export const chosenFunctions = ({ functions }: Source): readonly string[] =>
  functions.filter((name) => name !== NEEDED_FUNCTION);

const block = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join('');

/** `template` has an empty `name: {}` for each value that the manifests say. */
export function valuesText(template: string, source: Source): string {
  const said = {
    settings: ownSettings(source).flatMap(({ name, value, comment }) => [
      ...comment,
      `${name}: '${value}'`,
    ]),
    functions: chosenFunctions(source).map((name) => `${name}: true`),
    allowedImages: Object.entries(source.allowedImages).flatMap(([servers, images]) => [
      `${servers}:`,
      ...images.map((image) => `  - '${image}'`),
    ]),
  };
  return Object.entries(said).reduce(
    (text, [name, lines]) => text.replace(`\n${name}: {}\n`, () => `\n${name}:\n${block(lines)}`),
    template,
  );
}
