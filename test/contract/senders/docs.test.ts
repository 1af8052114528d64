// The patches in docs/security.md for a kustomization of one's own do what it says there.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { readConfig } from '../../../shared/function/config.ts';
import { runtimeShape } from '../../../shared/function/runtime-config.ts';
import { senderProblems } from '../../../shared/function/senders/senders.ts';

const RECEIVER = { canReadApiServer: true, takesEvents: true };
const root = resolve(import.meta.dirname, '../../..');

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly subscriber: { readonly audience?: string };
    readonly sink: { readonly audience?: string };
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
  };
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

async function rendered(): Promise<Rendered[]> {
  const page = await readFile(join(root, 'docs/security.md'), 'utf8');
  const [, overlay = ''] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
  // Beside the folder that it names, since kustomize takes relative paths only.
  const directory = await mkdtemp(join(root, '.docs-'));
  try {
    await writeFile(join(directory, 'kustomization.yaml'), overlay);
    const kubectl = await resolvePart('kubectl');
    const { stdout } = await promisify(execFile)(kubectl, ['kustomize', directory]);
    return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** How the named function is sent to, by whom, and what it asks of them. */
function wiringOf(objects: readonly Rendered[], functionName: string) {
  const sendersOf = (kind: string): readonly Rendered[] =>
    objects.filter(
      (object) => object.kind === kind && object.metadata.name.startsWith(functionName),
    );
  const [triggers, pings] = [sendersOf('Trigger'), sendersOf('PingSource')];
  const [service] = objects.filter(({ kind, metadata, spec }) => {
    return kind === 'Service' && metadata.name === functionName && 'template' in spec;
  });
  const [container] = service?.spec.template.spec.containers ?? [];
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
  return {
    config: readConfig({ ...env, SENDER_ADDRESSES: 'private' }, runtimeShape).config(),
    audiences: [
      ...triggers.map(({ spec }) => spec.subscriber.audience),
      ...pings.map(({ spec }) => spec.sink.audience),
    ],
    // As Knative's eventing names the service accounts of its senders.
    accounts: [
      ...triggers.map(({ metadata }) => `${metadata.name}-oidc-eventing.knative.dev-trigger`),
      ...pings.map(({ metadata }) => `${metadata.name}-oidc-sources.knative.dev-pingsource`),
    ],
  };
}

it.each([
  'etcd-backup',
  'etcd-cluster',
  'etcd-peer',
  'etcd-restore',
  'metadata',
  'nats-cluster',
  'storage-migration',
])(
  'asks the senders of %s for tokens, which its trigger and its ping source then have',
  async (name) => {
    const { config, audiences, accounts } = wiringOf(await rendered(), name);
    expect(senderProblems(config, RECEIVER)).toEqual([]);
    expect(audiences).toEqual([`ballast-system/${name}`, `ballast-system/${name}`]);
    expect(config.senderAudience).toBe(`ballast-system/${name}`);
    expect(config.senderSubjects).toEqual(
      accounts.map((account) => `system:serviceaccount:ballast-system:${account}`),
    );
  },
);

it('asks the sweep of takeover for tokens, which alone wakes it', async () => {
  const { config, audiences, accounts } = wiringOf(await rendered(), 'takeover');
  expect(senderProblems(config, RECEIVER)).toEqual([]);
  expect(audiences).toEqual(['ballast-system/takeover']);
  expect(config.senderSubjects).toEqual(
    accounts.map((account) => `system:serviceaccount:ballast-system:${account}`),
  );
});

it('asks dead letters for tokens of its ping, and of the triggers that give them up', async () => {
  const objects = await rendered();
  const triggers = objects.filter(({ kind }) => kind === 'Trigger');
  const { config, audiences, accounts } = wiringOf(objects, 'dead-letters');
  const ofTriggers = triggers.map(
    ({ metadata: { name } }) => `${name}-oidc-eventing.knative.dev-trigger`,
  );
  expect(senderProblems(config, RECEIVER)).toEqual([]);
  expect(audiences).toEqual(['ballast-system/dead-letters']);
  expect(config.senderSubjects).toEqual(
    [...accounts, ...ofTriggers].map((one) => `system:serviceaccount:ballast-system:${one}`),
  );
});

it('names no account that Knative would have to shorten', async () => {
  const objects = await rendered();
  const names = [
    'dead-letters',
    'etcd-backup',
    'etcd-cluster',
    'etcd-peer',
    'etcd-restore',
    'metadata',
    'nats-cluster',
    'storage-migration',
    'takeover',
  ].flatMap((name) => wiringOf(objects, name).config.senderSubjects);
  expect(names).toHaveLength(23);
  // As long as the name of an account may be; Knative puts a digest into longer ones.
  for (const name of names) expect(name.split(':').at(-1)?.length).toBeLessThanOrEqual(63);
});
