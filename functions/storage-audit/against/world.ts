// A world is all that is there before an upgrade, wherever it is read: definitions, how their
// objects are stored, the objects themselves, and whether a webhook answers.
import type { Stored } from './compare.ts';
import type { Crd } from './crd.ts';
import type { FoundObject } from './checker.ts';

export interface WorldOrigin {
  readonly source: string;
  /** Where etcd was read. */
  readonly revision?: string;
}

export interface Present {
  /** By name; of those that are asked about. */
  readonly crds: ReadonlyMap<string, Found>;
  /** All that are there. */
  readonly others: readonly Pick<Crd, 'name' | 'group' | 'names'>[];
}

/** A definition that cannot be read hides everything about its kind. */
export type Found =
  | { readonly crd: Crd; readonly stored: Stored }
  | { readonly unreadable: string };

/** The end of a sentence that begins with the name of its Service; undefined when it is there. */
export type WebhookState = { readonly lacks: string | undefined } | { readonly unknown: string };

export interface Service {
  readonly namespace: string;
  readonly name: string;
}

export interface World {
  readonly of: WorldOrigin;
  read(asked: readonly Crd[]): Promise<Present>;
  /** Hands over each object of these; the promise is awaited before much more is read. */
  objects(of: readonly Crd[], to: ReadonlyMap<string, Crd>, take: Take): Promise<void>;
  webhook(service: Service): Promise<WebhookState>;
}

export interface Take {
  object(crd: Crd, object: FoundObject): Promise<void>;
  /** One that could not be read, and why. */
  unread(crd: Crd, name: string, why: string): void;
}
