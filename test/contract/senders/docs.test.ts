// What docs/security.md tells people to put into a kustomization of theirs does what it says there.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { resolvePart } from '../../../knative/local/parts/resolve.ts';
import { readConfig } from '../../../shared/function/config.ts';
import { runtimeShape } from '../../../shared/function/runtime-config.ts';
import { senderProblems } from '../../../shared/function/senders/senders.ts';

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

it.each(['metadata', 'storage-migration'])(
  'asks the senders of %s for tokens, which its trigger and its ping source then have',
  async (name) => {
    const { config, audiences, accounts } = wiringOf(await rendered(), name);
    const [subjects = ''] = config.senderSubjects;
    const prefix = subjects.replace(/\*$/, '');

    expect(senderProblems(config, true)).toEqual([]);
    expect(audiences).toEqual([`ballast-system/${name}`, `ballast-system/${name}`]);
    expect(config.senderAudience).toBe(`ballast-system/${name}`);
    expect(accounts.map((account) => `system:serviceaccount:ballast-system:${account}`)).toEqual(
      accounts.map(() => expect.stringContaining(prefix)),
    );
  },
);
