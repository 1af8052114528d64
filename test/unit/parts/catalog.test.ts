// The catalog agrees with the Go modules beside it: same versions, same packages, same Go.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { moduleDir } from '../../../knative/try/local/parts/cache.ts';
import {
  buildOrder,
  groupEntries,
  partEntry,
  partNames,
  planePartNames,
  startPartNames,
} from '../../../knative/try/local/parts/catalog.ts';
import { GO_WANTED } from '../../../knative/try/local/parts/explain.ts';

const groups = buildOrder(partNames);
const goMod = (group: (typeof groups)[number]): string =>
  readFileSync(join(moduleDir(group), 'go.mod'), 'utf8');

/** The tools of the `tool` directives, in either of their forms. */
function tools(text: string): readonly string[] {
  const block = /^tool \(\n([^)]*)\)/m.exec(text)?.[1]?.trim().split(/\s+/) ?? [];
  const single = [...text.matchAll(/^tool (\S+\/\S+)$/gm)].map((match) => match[1] ?? '');
  return [...block, ...single];
}

/** Mains that we have written lie beside their go.mod. */
const OURS = 'ballast.dev';

/** Our own program has no version but that of this repository. */
const versioned = partNames.filter((name) => name !== 'pause');

describe.each(versioned)('%s', (name) => {
  const entry = partEntry(name);

  test('has the version that go.mod pins', () => {
    const required = goMod(entry.group).match(/(?<=^(?:\t|require ))\S+ v\S+/gm) ?? [];
    expect(required).toContain(`${entry.module} ${entry.pin ?? entry.version}`);
  });

  test('is built from a package of its module', () => {
    const homes = [entry.module, OURS];
    expect(homes.some((home) => `${entry.package}/`.startsWith(`${home}/`))).toBe(true);
  });

  test('has every stamp that names a version name its own', () => {
    const versions = Object.values(entry.stamps).filter((value) => value.startsWith('v'));
    expect(versions.filter((version) => version !== entry.version)).toEqual([]);
  });
});

describe.each(groups)('the module of %s', (group) => {
  test('keeps exactly the packages that the table builds', () => {
    const packages = groupEntries(group)
      .map((entry) => entry.package)
      .filter((name) => !name.startsWith(`${OURS}/`));
    expect(tools(goMod(group)).toSorted()).toEqual(packages.toSorted());
  });

  test('wants no newer Go than people are told to install', () => {
    const wanted = /^go (\d+\.\d+)/m.exec(goMod(group))?.[1];
    expect(wanted).toBe(GO_WANTED);
  });
});

const groupsFor = (...users: readonly string[]) =>
  groups.filter((group) => groupEntries(group).some(({ user = '' }) => users.includes(user)));

test('nothing that only others run is built for `npm start`', () => {
  const others = groupsFor('tests', 'cluster', 'knative');
  expect(groupsFor('tests')).toEqual([
    'nats-previous',
    'etcd-previous',
    'etcd-next',
    'nats-2-1',
    'etcd-3-4',
    'etcd-3-3',
    'etcd-tools',
    'etcd-tools-previous',
    'etcd-tools-next',
    'porcupine',
    'feed-reader',
    'versitygw',
    'prometheus',
    'helm',
    'kube-controller-manager',
  ]);
  expect(buildOrder(startPartNames)).toEqual(groups.filter((one) => !others.includes(one)));
});

test('nothing that only a cluster runs is built for the tests without one', () => {
  const others = groupsFor('cluster', 'knative');
  expect(others).toContain('knative-serving');
  expect(buildOrder(planePartNames)).toEqual(groups.filter((one) => !others.includes(one)));
});
