// Tidy rules about who may know whom: the direction of imports, the one owner of each library, the
// packages we depend on, and exports that nobody uses.

import type { Finding, Rule } from './rule.ts';
import { perFile } from './rule.ts';
import type { Source } from './sources.ts';

/**
 * `functions/deps/steps.ts` belongs to the area `functions/deps`, `shared/clock.ts` to `shared`.
 */
function areaOf(path: string): string {
  const [top = '', second = '', third] = path.split('/');
  const split = (top === 'functions' || top === 'shared') && third !== undefined;
  return split ? `${top}/${second}` : top;
}

/** Agreements between several parties; they import nobody's insides. */
const PROTOCOLS = ['shared/feed', 'shared/api'];

/** Made of these clients, for every function that keeps servers, whatever they serve. */
const STATEFUL = { area: 'shared/stateful', of: ['shared/function', 'shared/kube'] };

/** Made of these in turn: Jobs of functions, whatever their pods do. */
const JOBS = { area: 'shared/jobs', of: [...STATEFUL.of, STATEFUL.area] };

/** Made of these as well: what a Job does with a stored backup, whosever Job that is. */
const BACKUPS = {
  area: 'shared/backups',
  of: [...JOBS.of, JOBS.area, 'shared/etcd', 'shared/s3', 'shared/sealed'],
};

function mayImport(from: string, to: string): boolean {
  const [fromTop = ''] = from.split('/');
  if (PROTOCOLS.includes(to)) return true;
  if ([STATEFUL, JOBS, BACKUPS].some(({ area, of }) => from === area && of.includes(to)))
    return true;
  const [toTop = ''] = to.split('/');
  if (from === to || toTop === 'shared')
    return fromTop !== 'shared' || from === to || to === 'shared';
  if (fromTop === 'test' || fromTop === 'vitest.config.ts') return true;
  // `package.json` and the like: no area at all.
  if (to.includes('.')) return true;
  return fromTop === 'knative' && toTop === 'functions';
}

const direction: Rule = {
  name: 'import-direction',
  reason: 'functions meet in the status of objects, and the clients in shared/ stay replaceable',
  check: perFile(function* ({ path, imports }) {
    for (const { from, line } of imports.filter(({ isLocal }) => isLocal)) {
      if (mayImport(areaOf(path), areaOf(from))) continue;
      const message = `${areaOf(path)} must not import ${from}; move what both need to shared/.`;
      yield { line, message };
    }
  }),
};

/** Only the area named may import the package; tests may, as a witness that is not our own code. */
const owners: readonly (readonly [RegExp, string])[] = [
  [/^(nats|@nats-io\/.*)$/, 'shared/nats'],
  [/^@kubernetes\/client-node(\/|$)/, 'shared/kube'],
  [/^(aws4fetch|@aws-sdk\/.*)$/, 'shared/s3'],
  [/^(etcd3|@grpc\/.*)$/, 'shared/etcd'],
  [/^(express|jose|prom-client|pino)$/, 'shared/function'],
];

const oneOwner: Rule = {
  name: 'one-owner',
  reason: 'a library is replaced, or its traps are met, in one place',
  check: perFile(function* ({ path, imports }) {
    if (path.startsWith('test/')) return;
    for (const { from, line } of imports) {
      const owner = owners.find(([name]) => name.test(from))?.[1];
      if (owner === undefined || areaOf(path) === owner) continue;
      yield { line, message: `only ${owner} imports ${from}; ask it for what you need.` };
    }
  }),
};

/** The file that others import, by the name that `exports` in package.json gives it. */
const LIBRARY = 'shared/nats/replica/library.ts';

const barrel: Rule = {
  name: 'no-barrel',
  reason: 'an import should name the file that holds what it wants',
  check: perFile(function* ({ path, imports }) {
    if (/^shared\/.*index\.ts$/.test(path)) {
      yield { line: 1, message: 'no index file in shared/; name the file by what it owns.' };
    }
    for (const { reExports, from, line } of imports) {
      if (reExports && from.endsWith('.ts') && path !== LIBRARY)
        yield { line, message: 'no re-export; import from the file that owns it.' };
    }
  }),
};

/** Names that a tool or the platform asks for, not one of our files. */
const entryPoints: readonly (readonly [RegExp, RegExp])[] = [
  [/^functions\/[^/]+\/(index|main)\.ts$/, /./],
  [/^test\/bench\/p\d+\.ts$/, /^bench$/],
  [/^test\/bench\/handlers\//, /./],
  [/\/global-setup\.ts$/, /^setup$/],
  [new RegExp(`^${LIBRARY}$`), /./],
  // The bundle's own entry is written when it is built.
  [/^knative\/tools\/kubectl-ballast\/program\.ts$/, /^runPlugin$/],
];

const deadExport: Rule = {
  name: 'dead-export',
  reason: 'an export promises a user; without one it only makes the file harder to change',
  check: (sources) => {
    const taken = takenFrom(sources);
    return sources.flatMap((source) =>
      source.exports
        .filter(({ name, isType }) => !isUsed(source, name, isType, taken))
        .map(({ name, line }): Finding => {
          const message = `nobody imports ${name}; drop the word export, or the code.`;
          return { path: source.path, line, message };
        }),
    );
  },
};

type Taken = ReadonlyMap<string, ReadonlySet<string>>;

/** The names that are imported of each file. */
function takenFrom(sources: readonly Source[]): Taken {
  const taken = new Map<string, Set<string>>();
  for (const { from, names } of sources.flatMap(({ imports }) => imports)) {
    const all = taken.get(from) ?? new Set();
    for (const name of names) all.add(name);
    taken.set(from, all);
  }
  return taken;
}

function isUsed(of: Source, name: string, isType: boolean, taken: Taken): boolean {
  const isEntry = entryPoints.some(([path, names]) => path.test(of.path) && names.test(name));
  // A type may be exported for those who must name what another export of the file gives them.
  const isMentioned = isType && of.text.split(new RegExp(`\\b${name}\\b`)).length > 2;
  const names = taken.get(of.path) ?? new Set();
  return isEntry || isMentioned || names.has(name) || names.has('*');
}

const circle: Rule = {
  name: 'import-circle',
  reason: 'files that import each other, types included, cannot be read, moved or tested alone',
  check: (sources) => {
    const known = new Map(sources.map((source) => [source.path, source]));
    return sources.flatMap(({ path, imports }) =>
      imports
        // Every circle has an import that goes up in this order, so none is missed.
        .filter(({ from, isLocal }) => isLocal && from > path && reaches(from, path, known))
        .map(({ from, line }): Finding => {
          const message = `${from} imports this file in turn; move what both need to a third.`;
          return { path, line, message };
        }),
    );
  },
};

function reaches(from: string, to: string, sources: ReadonlyMap<string, Source>): boolean {
  const seen = new Set([from]);
  const toVisit = [from];
  for (let path = toVisit.pop(); path !== undefined; path = toVisit.pop()) {
    if (path === to) return true;
    for (const { from: next, isLocal } of sources.get(path)?.imports ?? []) {
      if (!isLocal || seen.has(next)) continue;
      seen.add(next);
      toVisit.push(next);
    }
  }
  return false;
}

export const importRules: readonly Rule[] = [direction, oneOwner, barrel, circle, deadExport];
