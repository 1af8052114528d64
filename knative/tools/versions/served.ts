// The first step of our kinds into v1beta1, as patches of their definitions: it is served, v1alpha1
// is stored, and the function conversion converts. Made of the definitions and DIFFERENCES.
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { DIFFERENCES } from './differences.ts';
import { fieldAt, type Node, nodeAt } from './schema.ts';

const CRDS = resolve(import.meta.dirname, '../../crds');
export const SERVED = resolve(import.meta.dirname, '../../overlays/timeline/1-served/crds');
const LINE_WIDTH = 100;

export interface PatchFile {
  readonly name: string;
  readonly text: string;
}

/** A file for each definition, with the name that it has there. */
export async function servedPatches(): Promise<readonly PatchFile[]> {
  const names = (await readdir(CRDS)).filter((name) => name !== 'kustomization.yaml').toSorted();
  return Promise.all(
    names.map(async (name) => {
      const definition: unknown = parse(await readFile(join(CRDS, name), 'utf8'));
      return { name, text: textOf(nodeAt(definition)) };
    }),
  );
}

/** The version alone, as it stands in the definition of this kind. */
export function betaOf(definition: Node): Node {
  const { kind } = nodeAt(definition, 'spec', 'names');
  const { versions } = nodeAt(definition, 'spec');
  const differ = DIFFERENCES[String(kind)];
  if (!Array.isArray(versions) || versions.length !== 1 || differ === undefined) {
    throw new TypeError(`${String(kind)} has not one version and its differences.`);
  }
  // Anchors of YAML are one object in several places, and each is edited by itself.
  const version = nodeAt(JSON.parse(JSON.stringify(versions[0])));
  differ(version);
  const apiVersion = fieldAt(nodeAt(version, 'schema', 'openAPIV3Schema'), 'apiVersion');
  apiVersion['description'] = 'The version of this schema, ballast.dev/v1beta1.';
  return { ...version, name: 'v1beta1', served: true, storage: false };
}

const CONVERSION = {
  strategy: 'Webhook',
  webhook: {
    conversionReviewVersions: ['v1'],
    clientConfig: {
      service: { namespace: 'ballast-system', name: 'conversion', path: '/convert', port: 443 },
    },
  },
};

const HEAD = `\
# Written by npm run versions, from knative/crds and knative/tools/versions/differences.ts.
`;

function textOf(definition: Node): string {
  const patch = [
    { op: 'add', path: '/spec/versions/-', value: betaOf(definition) },
    { op: 'add', path: '/spec/conversion', value: CONVERSION },
  ];
  return `${HEAD}${stringify(patch, { lineWidth: LINE_WIDTH, aliasDuplicateObjects: false })}`;
}
