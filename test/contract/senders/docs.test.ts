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
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
  };
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

async function rendered(): Promise<Rendered[]> {
  const page = await readFile(join(root, 'docs/security.md'), 'utf8');
  const [, patches = ''] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
  // Beside what it patches, since kustomize takes relative paths only.
  const directory = await mkdtemp(join(root, 'knative/.docs-'));
  try {
    const text = `resources: [../functions/metadata]\n${patches}`;
    await writeFile(join(directory, 'kustomization.yaml'), text);
    const kubectl = await resolvePart('kubectl');
    const { stdout } = await promisify(execFile)(kubectl, ['kustomize', directory]);
    return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
  } finally {
    await rm(directory, { recursive: true });
  }
}

it('asks the senders of metadata for tokens, which their triggers then have', async () => {
  const objects = await rendered();
  const triggers = objects.filter(({ kind }) => kind === 'Trigger');
  const [service] = objects.filter(({ kind, spec }) => kind === 'Service' && 'template' in spec);
  const [container] = service?.spec.template.spec.containers ?? [];
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
  const config = readConfig(env, runtimeShape).config();
  // As Knative's eventing names the service account of a Trigger.
  const accounts = triggers.map(
    ({ metadata: { name } }) => `${name}-oidc-eventing.knative.dev-trigger`,
  );

  expect(senderProblems(config, true)).toEqual([]);
  expect(new Set(triggers.map(({ spec }) => spec.subscriber.audience))).toEqual(
    new Set([config.senderAudience]),
  );
  expect(new Set(config.senderSubjects)).toEqual(
    new Set(accounts.map((name) => `system:serviceaccount:ballast-system:${name}`)),
  );
});
