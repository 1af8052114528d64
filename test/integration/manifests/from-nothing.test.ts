// The way from nothing to a feed in docs/install.md, run as it is written: the shell is real, and
// so is kubectl where it reads files; what reaches out of this machine is only noted.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';

const REPO = resolve(import.meta.dirname, '../../..');
const NOTE = 'printf "%s\\n" "${0##*/} $*" >> "$CALLS"';
const REPOSITORY = 'images.example.com/ballast';

let dir: string;
let calls: readonly string[];
let mine: readonly Manifest[];

/** The first block of the section: what is copied and pasted. */
async function script(): Promise<string> {
  const page = await readFile(join(REPO, 'docs/install.md'), 'utf8');
  const [, section = ''] = page.split('## From nothing to a feed\n');
  return /^```sh\n([^]*?)^```$/m.exec(section)?.[1] ?? '';
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-from-nothing-'));
  for (const name of ['knative', 'functions']) await symlink(join(REPO, name), join(dir, name));
  const kubectl = await resolvePart('kubectl');
  const takesInput = 'case "$*" in *"-f -") echo --- >> "$APPLIED"; cat >> "$APPLIED" ;; esac';
  for (const [name, more] of [
    ['npm', ''],
    ['crane', ''],
    ['kubectl', takesInput],
  ]) {
    const path = join(dir, name ?? '');
    // The command that feeds a pipe comes first.
    await writeFile(path, `#!/bin/sh\n${more}\n${NOTE}\n`);
    await chmod(path, 0o755);
  }
  const env = {
    PATH: `${dir}:/usr/bin:/bin`,
    CALLS: join(dir, 'calls'),
    APPLIED: join(dir, 'applied'),
  };
  execFileSync('bash', ['-e', '-c', await script()], { cwd: dir, env });
  calls = (await readFile(env.CALLS, 'utf8')).trim().split('\n');
  const text = execFileSync(kubectl, ['kustomize', join(dir, 'mine')], { encoding: 'utf8' });
  mine = [...parseAllDocuments(text)].map((document) => document.toJS() as Manifest);
});

afterAll(() => rm(dir, { recursive: true, force: true }));

test('images are built and pushed under the name that is installed', () => {
  expect(calls).toContain(`npm run images -- --repository ${REPOSITORY} --tag 0.1.0`);
  const pushed = calls.filter((call) => call.startsWith('crane push'));
  const services = mine.filter(({ kind, apiVersion }) => `${apiVersion} ${kind}` === SERVICE);
  const images = services.map((service) => /"image":"([^"]+)"/.exec(JSON.stringify(service))?.[1]);
  expect(images.length).toBeGreaterThan(5);
  expect(new Set(pushed.map((call) => call.split(' ').at(-1)))).toEqual(new Set(images));
});

const SERVICE = 'serving.knative.dev/v1 Service';

test('who speaks with NATS takes a password that the NatsCluster has for him alone', async () => {
  const manifest = await readFile(join(REPO, 'knative/nats/nats-cluster.yaml'), 'utf8');
  const { metadata, spec } = parse(manifest) as Manifest & { readonly spec: NatsClusterSpec };
  const users = (spec.accounts ?? []).flatMap((account) => account.users);
  const rights = new Map(users.map(({ name, ...rest }) => [name, rest]));
  const takers = mine.flatMap((object) => {
    const secret = /"nats-user-([^"]*)"/.exec(JSON.stringify(object))?.[1];
    return secret === undefined ? [] : [[object.metadata.name, rights.get(secret)]];
  });
  expect(takers).toEqual([
    ['console', { reads: { feed: 'cluster', scope: 'Cluster' } }],
    ['locate', { reads: { feed: 'cluster', scope: 'Cluster' } }],
    ['metadata', { writes: ['cluster'] }],
  ]);
  expect([metadata.name, metadata.namespace]).toEqual(['nats', 'ballast-system']);
});

test('each step waits for what the next one needs', () => {
  const steps = calls.filter((call) => /^kubectl|rights/.test(call)).map((call) => call.trim());
  expect(steps).toEqual([
    'kubectl apply -k mine',
    'kubectl -n ballast-system wait ksvc/nats-cluster --for=condition=Ready --timeout=5m',
    expect.stringContaining('nats-cluster -n ballast-system'),
    'kubectl apply -f -',
    'kubectl apply -k knative/nats',
    'kubectl -n ballast-system wait natscluster/nats --for=condition=Ready --timeout=5m',
    'kubectl apply -k knative/feeds',
    'kubectl -n ballast-system wait metadatafeed/cluster --for=condition=InSync --timeout=5m',
  ]);
});
