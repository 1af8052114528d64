// An object that was too large to be read: who it is, and where it runs, and nothing else of it.
import type { KubeObject } from './objects.ts';

const METADATA = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const;

/** Paths that are read of an object that is found at this path. */
export const skimPaths = (at: string): readonly string[] => [
  `${at}.kind`,
  `${at}.apiVersion`,
  `${at}.spec.nodeName`,
  ...METADATA.map((field) => `${at}.metadata.${field}`),
];

/** Undefined when it has no name, as where no object is. */
export function skimmedObject(
  at: string,
  found: Readonly<Record<string, string>>,
  type: Pick<KubeObject, 'apiVersion' | 'kind'>,
): KubeObject | undefined {
  const said = METADATA.flatMap((field) => {
    const text = found[`${at}.metadata.${field}`];
    return text === undefined ? [] : [[field, text] as const];
  });
  const { name, uid = '', resourceVersion = '', ...metadata } = Object.fromEntries(said);
  if (name === undefined) return undefined;
  const nodeName = found[`${at}.spec.nodeName`];
  return {
    apiVersion: found[`${at}.apiVersion`] ?? type.apiVersion,
    kind: found[`${at}.kind`] ?? type.kind,
    metadata: { name, uid, resourceVersion, ...metadata },
    ...(nodeName === undefined ? {} : { spec: { nodeName } }),
  };
}
