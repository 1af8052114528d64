// One of our own objects as it was read, in the terms of the functions. Pure.
import type { KubeObject } from './objects.ts';

export interface OwnObject<Spec, Status> {
  /** As it was read. */
  readonly object: KubeObject;
  /** Empty for a kind of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: Spec;
  readonly status: Status;
}

export function ownObjectOf<Spec, Status>(object: KubeObject): OwnObject<Spec, Partial<Status>> {
  const { name, namespace = '', uid, generation = 0 } = object.metadata;
  // The API server holds objects to their schema and fills in the defaults; only the status of an
  // object that no function has seen is not there.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status = {} } = object as unknown as { spec: Spec; status?: Partial<Status> };
  return { object, namespace, name, uid, generation, spec, status };
}
