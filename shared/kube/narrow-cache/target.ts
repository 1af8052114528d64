// The one object of a watch or a read, and the selection that asks the API server for it alone.
import type { KubeClient } from '../client.ts';
import type { KubeObject, ObjectName, ResourceRef } from '../objects.ts';

export type Kube = Pick<KubeClient, 'get' | 'list' | 'watchOnce'>;

/** As in `get`: without namespace for what belongs to none. */
export type Name = Omit<ObjectName, 'subresource'>;

export interface Target extends Name {
  readonly ref: ResourceRef;
}

/** Selects by the name alone, so that a role with this resourceName is enough. */
export const selection = ({ namespace, name }: Target) => ({
  ...(namespace === undefined ? {} : { namespace }),
  fieldSelector: `metadata.name=${name.replaceAll(/[\\,=]/g, '\\$&')}`,
});

/** An aggregated API server may not know the selector, and send every object it has. */
export const isOf = ({ name }: Target, { metadata }: KubeObject): boolean => metadata.name === name;
