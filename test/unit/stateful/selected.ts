// Whether the model of the API server lists an object: by its group, its labels and its name.
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';

export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Kinds of several groups have the same name. */
const isOfGroup = ({ apiVersion }: KubeObject, { group }: ResourceRef): boolean =>
  group === '' ? !apiVersion.includes('/') : apiVersion.startsWith(`${group}/`);

export function isSelected(
  object: KubeObject,
  ref: ResourceRef,
  { labelSelector = '', fieldSelector = '' }: Selection,
): boolean {
  const named = /^metadata\.name=(.*)$/.exec(fieldSelector)?.[1];
  const { name, labels = {} } = object.metadata;
  const isLabelled = labelSelector.split(',').every((one) => {
    const [label = '', value] = one.split('=');
    if (value === undefined) return label === '' || label in labels;
    return labels[label] === value;
  });
  return isOfGroup(object, ref) && isLabelled && (named === undefined || named === name);
}
