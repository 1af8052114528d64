// The addresses of resources on the API server, and how they are called in messages, counts and
// RBAC rules.
import { Failure } from '../errors.ts';
import type { ResourceRef } from './objects.ts';

export interface Place {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** `/apis/apps/v1/namespaces/web/deployments/frontend/status`. */
export function resourcePath(ref: ResourceRef, place: Place): string {
  const root =
    ref.group === ''
      ? `/api/${segment(ref.version)}`
      : `/apis/${segment(ref.group)}/${segment(ref.version)}`;
  const { namespace, name, subresource } = place;
  return [
    root,
    ...(namespace === undefined ? [] : ['namespaces', segment(namespace)]),
    segment(ref.resource),
    ...(name === undefined ? [] : [segment(name)]),
    ...(subresource === undefined ? [] : [segment(subresource)]),
  ].join('/');
}

export function withQuery(path: string, query: Query): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) params.set(key, String(value));
  }
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}

/** `deployments.apps/status`, as kubectl says it. */
export function resourceName(
  { group, resource }: Omit<ResourceRef, 'version'>,
  subresource?: string,
): string {
  const base = group === '' ? resource : `${resource}.${group}`;
  return subresource === undefined ? base : `${base}/${subresource}`;
}

/** `deployments.apps web/frontend`. */
export function describeObject(ref: ResourceRef, { namespace, name, subresource }: Place): string {
  const key = [namespace, name].filter((part) => part !== undefined).join('/');
  return `${resourceName(ref, subresource)} ${key}`.trim();
}

/** The API server knows no such names either, but a proxy before it might walk up the path. */
function segment(text: string): string {
  if (['', '.', '..'].includes(text) || /[/%]/.test(text) || !text.isWellFormed()) {
    const message = `'${text}' cannot be part of a path on the API server: correct the name.`;
    throw new Failure('KUBE_NAME_INVALID', message, { object: text });
  }
  return encodeURIComponent(text);
}
