// Finds definitions that operators left. Those of a group go last, and only when nobody has objects
// of any of them in any namespace: objects are deleted with their definition.
import { fieldOf } from '../../../functions/takeover/legacy.ts';
import { recordsIn } from '../../../functions/takeover/legacy/said.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import { textOf } from '../../../shared/kube/json.ts';

export interface LeftDefinitions {
  readonly group: string;
  readonly names: readonly string[];
  /** Those of them that have objects. */
  readonly used: readonly string[];
}

const PAGE = 500;

/** None where they or their objects may not be listed, or where one goes meanwhile. */
export async function findDefinitions(
  kube: KubeClient,
  groups: readonly string[],
): Promise<readonly LeftDefinitions[]> {
  try {
    const all = await namesOfAll(kube);
    const found: LeftDefinitions[] = [];
    for (const group of groups) {
      const names = all.filter((name) => name.slice(name.indexOf('.') + 1) === group);
      const used: string[] = [];
      for (const name of names) if (await isUsed(kube, group, name)) used.push(name);
      if (names.length > 0) found.push({ group, names, used });
    }
    return found;
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_NOT_FOUND')) return [];
    throw error;
  }
}

async function namesOfAll(kube: KubeClient): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { items } of kube.pages(CRDS, { limit: PAGE, metadataOnly: true })) {
    names.push(...items.map(({ metadata }) => metadata.name));
  }
  return names;
}

/** One that serves no version tells of no object, and may have some. */
async function isUsed(kube: KubeClient, group: string, name: string): Promise<boolean> {
  const object = await kube.get(CRDS, { name });
  const versions = recordsIn(fieldOf({ ...object }, 'spec')['versions']);
  const version = textOf(versions.find(({ served }) => served === true)?.['name']);
  if (version === '') return true;
  const ref = { group, version, resource: name.slice(0, name.indexOf('.')) };
  for await (const { items } of kube.pages(ref, { limit: 1, metadataOnly: true })) {
    if (items.length > 0) return true;
  }
  return false;
}

/** With the line that looks once more before it deletes. Pure. */
export function definitionsPage({ group, names, used }: LeftDefinitions): string {
  if (used.length > 0) {
    const shown = used.map((name) => `kubectl get ${name} -A`).join('; ');
    return (
      `Definitions of ${group} stay: objects of ${used.join(', ')} are left (${shown}). One of ` +
      'which no version is served may have some, and stays, too.\n'
    );
  }
  return (
    `Nobody has an object of ${group} in any namespace. Once its operator is gone for good its ` +
    `definitions can go:\nleft=$(kubectl get ${names.join(',')} -A -o name) && test -z "$left" ` +
    `&& kubectl delete crd ${names.join(' ')}\n`
  );
}
