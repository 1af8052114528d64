// A Takeover as it was read, in the terms of this function. Pure.
import type { TakeoverSpec, TakeoverStatus } from '../../shared/api/takeover.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';

export interface Takeover {
  /** As it was read. */
  readonly object: KubeObject;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: TakeoverSpec;
  readonly status: TakeoverStatus;
}

export function takeoverOf(object: KubeObject): Takeover {
  // The API server holds both to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status = {} } = object as unknown as {
    spec: TakeoverSpec;
    status?: TakeoverStatus;
  };
  const { name, namespace = '', uid, generation = 0 } = object.metadata;
  return { object, namespace, name, uid, generation, spec, status };
}

export const isEnding = ({ object }: Pick<Takeover, 'object'>): boolean =>
  object.metadata.deletionTimestamp !== undefined;
