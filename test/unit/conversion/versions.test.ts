// The files of the timeline's first step: what is written is what the definitions and their
// differences make, and the step names all of it.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { answer } from '../../../knative/tools/versions/command.ts';
import { Stale } from '../../../knative/tools/generated.ts';
import { betaOf } from '../../../knative/tools/versions/served.ts';
import { UsageError } from '../../../shared/arguments.ts';

const KNATIVE = fileURLToPath(new URL('../../../knative/', import.meta.url));
const STEP = `${KNATIVE}overlays/timeline/1-served/`;
const FUNCTION = `${KNATIVE}overlays/conversion/`;
const dir = await mkdtemp(join(tmpdir(), 'ballast-versions-'));
afterAll(() => rm(dir, { recursive: true }));

const read = async (path: string): Promise<Record<string, unknown>> =>
  parse(await readFile(path, 'utf8'));
const crdFiles = (await readdir(`${KNATIVE}crds`)).filter((name) => name !== 'kustomization.yaml');

test('they are as they would be written', async () => {
  expect(await answer(['--check'])).toBe('All are as they should be.\n');
});

test('one that is not is refused, and written anew', async () => {
  await answer([], dir);
  await writeFile(join(dir, 'takeover.yaml'), 'mine');
  await expect(answer(['--check'], dir)).rejects.toThrow(Stale);
  expect(await answer([], dir)).toBe('Wrote takeover.yaml.\n');
  expect(await answer(['--check'], dir)).toContain('All are');
});

test.each([[['more']], [['--chek']]])('%j is refused', async (args) => {
  await expect(answer(args)).rejects.toThrow(UsageError);
});

test('the step patches every definition, by the name that it has', async () => {
  const { patches } = await read(`${STEP}kustomization.yaml`);
  const wanted = await Promise.all(
    crdFiles.toSorted().map(async (file) => {
      const { metadata } = await read(`${KNATIVE}crds/${file}`);
      const { name } = metadata as { readonly name: string };
      return { path: `crds/${file}`, target: { kind: 'CustomResourceDefinition', name } };
    }),
  );
  const byPath = (one: { path: string }, other: { path: string }): number =>
    one.path < other.path ? -1 : 1;
  expect((patches as typeof wanted).toSorted(byPath)).toEqual(wanted.toSorted(byPath));
});

test('the function may write into each of these definitions, and into its own Secret', async () => {
  const definitions = await Promise.all(crdFiles.map((file) => read(`${KNATIVE}crds/${file}`)));
  const names = definitions.map(({ metadata }) => (metadata as { name: string }).name);
  expect((await read(`${FUNCTION}cluster-role.yaml`))['rules']).toEqual([
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: names.toSorted(),
      verbs: ['get', 'patch'],
    },
  ]);
  expect((await read(`${FUNCTION}role.yaml`))['rules']).toEqual([
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: ['conversion-certificate'],
      verbs: ['get', 'patch'],
    },
  ]);
  // Applied once more, it takes nothing out of it.
  expect(await read(`${FUNCTION}secret.yaml`)).not.toHaveProperty('data');
});

test('the folder of the function names each of its files', async () => {
  const files = (await readdir(FUNCTION)).filter((name) => name !== 'kustomization.yaml');
  expect((await read(`${FUNCTION}kustomization.yaml`))['resources']).toEqual(files.toSorted());
});

test('its pods meet the restricted standard, and are ready by TLS', async () => {
  const { spec } = await read(`${FUNCTION}deployment.yaml`);
  const { template, replicas } = spec as {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly [object] } };
  };
  expect(replicas).toBe(2);
  expect(template.spec.containers[0]).toMatchObject({
    readinessProbe: { httpGet: { scheme: 'HTTPS', path: '/health/readiness' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  });
});

test('a definition of more versions, or without differences, has no next one', () => {
  const one = { name: 'v1alpha1' };
  const definition = (kind: string, versions: readonly object[]) => ({
    spec: { names: { kind }, versions },
  });
  expect(() => betaOf(definition('Takeover', [one, one]))).toThrow('Takeover has not one version');
  expect(() => betaOf(definition('Widget', [one]))).toThrow('Widget has not one version');
});
