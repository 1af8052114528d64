// Finds all that a file can reach, by what it and they say. Where nobody can tell, it is more
// than there is need for: a folder stands for all that is in it.

import { posix } from 'node:path';
import { parseAst } from 'vitest/node';
import type { Node } from '../../tidy/syntax.ts';
import { type Mentions, mentionsIn } from './mentions.ts';
import { narrowed } from './narrowed.ts';
import { ANY } from './paths.ts';
import type { Repository } from './repository.ts';

/** A function is started by a name that somebody was handed. */
const BY_NAME = /^functions\/\*/;
/** A folder of these is read for what is no program. */
const MANIFESTS = /^knative(?:\/?\*)?$/;
const NO_MANIFESTS = /^knative\/(?:try|tools)\/|\.ts$/;

interface Direct {
  readonly files: readonly string[];
  /** Whether it starts functions by names. */
  readonly byName: readonly string[];
}

export class Reach {
  readonly #repository: Repository;
  readonly #tops: ReadonlySet<string>;
  readonly #mentions = new Map<string, Mentions | undefined>();
  readonly #direct = new Map<string, Direct>();
  readonly #inPlaces = new Map<string, readonly string[]>();

  constructor(repository: Repository) {
    this.#repository = repository;
    this.#tops = new Set([...repository.keys()].map((path) => path.split('/')[0] ?? ''));
  }

  /** With the files themselves. */
  of(entries: readonly string[]): ReadonlySet<string> {
    const reached = new Set(entries);
    let before = -1;
    // A function that is started may start others.
    while (before !== reached.size) {
      before = reached.size;
      for (const file of reached) for (const one of this.#directOf(file).files) reached.add(one);
      for (const one of this.#startedByName(reached)) reached.add(one);
    }
    return reached;
  }

  /**
   * Functions that something in there starts by a name: those of which a module speaks that reaches
   * the start, or one that such a module imports.
   */
  #startedByName(reached: ReadonlySet<string>): readonly string[] {
    const starters = [...reached].filter((file) => this.#directOf(file).byName.length > 0);
    if (starters.length === 0) return [];
    const callers = new Set(starters);
    let before = -1;
    while (before !== callers.size) {
      before = callers.size;
      for (const file of reached) {
        if (this.#importsOf(file).some((one) => callers.has(one))) callers.add(file);
      }
    }
    const speaking = new Set([...callers].flatMap((file) => [file, ...this.#importsOf(file)]));
    const words = new Set([...speaking].flatMap((file) => this.#mentionsOf(file)?.words ?? []));
    const names = this.#functionNames().filter((name) => words.has(name));
    const places = new Set(starters.flatMap((file) => this.#directOf(file).byName));
    return names.flatMap((name) =>
      [...places].flatMap((place) => this.#filesIn(place.replace(ANY, name))),
    );
  }

  #importsOf(file: string): readonly string[] {
    return this.#mentionsOf(file)?.imports ?? [];
  }

  #functionNames(): readonly string[] {
    const found = this.#filesIn('functions').map((path) => path.split('/')[1] ?? '');
    return [...new Set(found)];
  }

  #directOf(file: string): Direct {
    const known = this.#direct.get(file);
    if (known !== undefined) return known;
    const { imports, places } = this.#mentionsOf(file) ?? {
      imports: [],
      places: namedInText(file, this.#repository),
    };
    const wide = narrowed(file, places)
      // A test never starts another.
      .filter((place) => !place.endsWith('.test.ts'))
      .map((place) => place.replace(/^dist\//, 'functions/'));
    const byName = wide.filter((place) => BY_NAME.test(place));
    const files = wide.filter((place) => !byName.includes(place));
    const direct = {
      files: [...new Set([...imports, ...files.flatMap((place) => this.#filesIn(place))])],
      byName,
    };
    this.#direct.set(file, direct);
    return direct;
  }

  #filesIn(place: string): readonly string[] {
    const known = this.#inPlaces.get(place);
    if (known !== undefined) return known;
    const all = [...this.#repository.keys()];
    const pattern = place.split(ANY).map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
    const isIn = new RegExp(`^${pattern.join('.*').replace(/\/$/, '')}(?:/|$)`);
    const found = this.#repository.has(place)
      ? [place]
      : all.filter((path) => place === '' || isIn.test(path));
    const files = MANIFESTS.test(place) ? found.filter((one) => !NO_MANIFESTS.test(one)) : found;
    this.#inPlaces.set(place, files);
    return files;
  }

  #mentionsOf(file: string): Mentions | undefined {
    if (this.#mentions.has(file)) return this.#mentions.get(file);
    const bytes = file.endsWith('.ts') ? this.#repository.get(file)?.bytes : undefined;
    const mentions =
      bytes &&
      mentionsIn({
        file,
        tree: parseAst(bytes.toString(), { lang: 'ts' }, file) as unknown as Node,
        tops: this.#tops,
        mentionsOf: (other) => this.#mentionsOf(other),
      });
    this.#mentions.set(file, mentions);
    return mentions;
  }
}

/** A kustomization names others, and so do the compiler's settings; no other text is followed. */
function namedInText(file: string, repository: Repository): readonly string[] {
  const isSettings = /(?:^|\/)tsconfig\.json$/.test(file);
  if (!isSettings && !/(?:^|\/)kustomization\.yaml$/.test(file)) return [];
  const text = repository.get(file)?.bytes.toString() ?? '';
  const words = text.split(/[\s'":,[\]{}]+/).filter((word) => /^[\w.]/.test(word));
  // The compiler looks for others itself, where something is to be compiled as a whole.
  const named = isSettings ? words.filter((word) => word.startsWith('.')) : words;
  return named.map((word) => posix.join(posix.dirname(file), word)).filter((path) => path !== '.');
}
