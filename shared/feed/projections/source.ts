// The input and output of a projection: an object of the Kubernetes API, and its fields in the feed
// beyond its identity.
import type { ObjectMessage } from '../messages.ts';

/** As the API server sends it. Every other field is read with care: nobody has checked it. */
export interface SourceObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly unknown[];
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

type Identity = Pick<
  ObjectMessage,
  'epoch' | 'kind' | 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'created' | 'owner'
>;

export type Aspect = Omit<ObjectMessage, keyof Identity>;
