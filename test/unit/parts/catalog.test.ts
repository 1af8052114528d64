// The catalog agrees with the Go modules beside it: same versions, same packages, same Go.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { moduleDir } from '../../../knative/local/parts/cache.ts';
import {
  buildOrder,
  groupEntries,
  partEntry,
  partNames,
  startPartNames,
} from '../../../knative/local/parts/catalog.ts';
import { GO_WANTED } from '../../../knative/local/parts/explain.ts';

const groups = buildOrder(partNames);
const goMod = (group: (typeof groups)[number]): string =>
  readFileSync(join(moduleDir(group), 'go.mod'), 'utf8');

/** What the `tool` directives name, in either of their forms. */
function tools(text: string): readonly string[] {
  const block = /^tool \(\n([^)]*)\)/m.exec(text)?.[1]?.trim().split(/\s+/) ?? [];
  const single = [...text.matchAll(/^tool (\S+\/\S+)$/gm)].map((match) => match[1] ?? '');
  return [...block, ...single];
}

describe.each(partNames)('%s', (name) => {
  const entry = partEntry(name);

  test('has the version that go.mod pins', () => {
    const required = goMod(entry.group).match(/^\t\S+ v\S+/gm) ?? [];
    expect(required).toContain(`\t${entry.module} ${entry.version}`);
  });

  test('is built from a package of its module', () => {
    expect(`${entry.package}/`.startsWith(`${entry.module}/`)).toBe(true);
  });

  test('has every stamp that names a version name its own', () => {
    const versions = Object.values(entry.stamps).filter((value) => value.startsWith('v'));
    expect(versions.filter((version) => version !== entry.version)).toEqual([]);
  });
});

describe.each(groups)('the module of %s', (group) => {
  test('keeps exactly the packages that the table builds', () => {
    const packages = groupEntries(group).map((entry) => entry.package);
    expect(tools(goMod(group)).toSorted()).toEqual(packages.toSorted());
  });

  test('wants no newer Go than people are told to install', () => {
    const wanted = /^go (\d+\.\d+)/m.exec(goMod(group))?.[1];
    expect(wanted).toBe(GO_WANTED);
  });
});

test('nothing that only tests run is built for `npm start`', () => {
  const groupsOfTests = groups.filter((group) =>
    groupEntries(group).some(({ isForTests = false }) => isForTests),
  );
  expect(groupsOfTests).toEqual(['nats-previous', 'etcd-tools', 'kube-controller-manager']);
  expect(buildOrder(startPartNames)).toEqual(groups.filter((one) => !groupsOfTests.includes(one)));
});
