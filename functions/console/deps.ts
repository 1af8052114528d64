// The dependencies of this function: the client for the API server, the state as it was read last,
// and the log of pods and nodes, which follows a replica of the feed.
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Replica } from '../../shared/nats/replica/replica.ts';
import { PodLog } from './pod-log.ts';
import { StateReader } from './state-reader.ts';

/** The part of a replica that is used. */
export type Reader = Pick<Replica, 'state' | 'changes' | 'close'>;

export interface DepsOptions {
  readonly kube: KubeClient;
  readonly replica: Reader;
  readonly clock: Clock;
  readonly namespace: string;
}

/** Between so many changes others have their turn: a feed may begin with 150,000. */
const AT_ONCE = 2_000;

export class Deps {
  readonly kube: KubeClient;
  readonly replica: Reader;
  readonly pods = new PodLog();
  readonly state: StateReader;
  readonly #following: Promise<void>;

  constructor({ kube, replica, clock, namespace }: DepsOptions) {
    this.kube = kube;
    this.replica = replica;
    this.state = new StateReader({ kube, replica, clock, namespace });
    this.#following = this.#follow();
  }

  async close(): Promise<void> {
    await this.replica.close();
    await this.#following;
    await this.kube.close();
  }

  async #follow(): Promise<void> {
    let count = 0;
    for await (const change of this.replica.changes()) {
      this.pods.apply(change);
      count += 1;
      if (count % AT_ONCE === 0) await setImmediate();
    }
  }
}
