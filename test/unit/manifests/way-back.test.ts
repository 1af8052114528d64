// docs/upgrade.md, held against the installation: the functions that wait for their users of NATS
// come after the accounts, and whoever goes back keeps all definitions. And the change of accounts
// that the page hands out is one that kubectl can send.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const REPO = join(import.meta.dirname, '../../..');
// A shell reads on behind a backslash.
const page = readFileSync(join(REPO, 'docs/upgrade.md'), 'utf8').replaceAll(/ \\\n +/g, ' ');

const labelOf = (path: string): string =>
  parse(readFileSync(join(REPO, 'knative', path), 'utf8')).metadata.labels[
    'app.kubernetes.io/name'
  ];

const yamlBelow = (dir: string): readonly string[] =>
  readdirSync(join(REPO, 'knative', dir), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml'))
    .map((file) => `${dir}/${file}`);

test('what mounts a user of NATS comes last, and before it all that makes these users', () => {
  const secret = readFileSync(join(REPO, 'knative/nats-secret/kustomization.yaml'), 'utf8');
  const { patches } = parse(secret) as {
    readonly patches: readonly { target: { name: string } }[];
  };
  const [, last = ''] = /-l 'app.kubernetes.io\/name notin \(([^)]+)\)'/.exec(page) ?? [];
  const names = last.split(', ');
  expect(names).toEqual(patches.map(({ target }) => target.name));
  const first = [...yamlBelow('functions/nats-cluster'), 'crds/nats-cluster.yaml'];
  expect(first.filter((path) => labelOf(path) !== 'nats-cluster')).toEqual([]);
  for (const name of names) {
    expect(yamlBelow(`functions/${name}`).filter((path) => labelOf(path) !== name)).toEqual([]);
  }
});

test('the way back deletes no definition, and one Trigger after the other', () => {
  const [, script = ''] = /```sh\n(names\(\) [^`]+)```/.exec(page) ?? [];
  expect(script).toContain('grep -v ^customresourcedefinition');
  expect(script).toMatch(/^grep \^trigger surplus \| while .* --cascade=foreground \$one; done$/m);
  expect(script).toMatch(/^grep -v \^trigger surplus \| xargs /m);
});

test('the change of accounts is JSON, with a writer and a reader of the feed', () => {
  const [, text = ''] = /--type=merge -p '(\{"spec":\{"paused":false,[^']+)'/.exec(page) ?? [];
  const [streams, readers] = JSON.parse(text).spec.accounts;
  expect(streams.users).toContainEqual({ name: 'metadata', writes: streams.feeds });
  const reads = { feed: streams.feeds[0], scope: 'Cluster' };
  expect(readers.users).toContainEqual({ name: 'locate', reads });
});
