// A place of takeovers in which the function dies: it runs with the rights of its own account, is
// woken by hand, and is followed until a Takeover has come to where a test wants it.
import { expect } from 'vitest';
import type { takeover } from '../../../functions/takeover/index.ts';
import { TAKEOVERS, type TakeoverStatus } from '../../../shared/api/takeover.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { confirmPlan, DEPLOYMENTS, takeoverStatus } from '../../builders/legacy-kind.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Deaths, mortalTakeover, type Witness } from './mortal-takeover.ts';

/** A rollback ends then: nothing comes any more that another instance had asked for before. */
const LATE_MS = 40_000;
const isLate = ({ phase, plan }: TakeoverStatus): boolean =>
  phase === 'RollingBack' && plan?.next === 'End it';

interface Followed {
  /** After each of its answers. */
  readonly died?: () => Promise<void>;
}

export abstract class MortalPlace {
  readonly kube: KubeClient;
  readonly namespace: string;
  #takeover: RunningFunction | undefined;
  /** The last one, for the reader of a failed scenario. */
  #answer = '';
  /** Nobody else is at work here, so that time goes on by hand for what waits for nothing else. */
  #aheadMs = 0;

  constructor(kube: KubeClient, namespace: string) {
    this.kube = kube;
    this.namespace = namespace;
  }

  protected abstract kubeconfigOf(account: {
    readonly namespace: string;
    readonly name: string;
  }): Promise<string>;

  /** Every other function is woken again and again until the signal. */
  protected abstract wakeOthers(signal: AbortSignal): Promise<unknown>;

  protected abstract readonly withinMs: number;

  /** Another one in place of the one that there is. */
  async startTakeover(witness: Witness): Promise<void> {
    await this.stopTakeover();
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      WORK_SECONDS: '5',
      KUBECONFIG: await this.kubeconfigOf({ namespace: 'ballast-system', name: 'takeover' }),
    };
    const build = { version: '0.0.0', commit: '' };
    const definition: typeof takeover = mortalTakeover(witness);
    const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + this.#aheadMs };
    this.#takeover = await startFunction(definition, { environment, build, clock });
  }

  protected async stopTakeover(): Promise<void> {
    await this.#takeover?.stop();
  }

  status(name: string): Promise<TakeoverStatus> {
    return takeoverStatus(this.kube, { namespace: this.namespace, name });
  }

  async edit(name: string, spec: object): Promise<void> {
    const target = { namespace: this.namespace, name };
    await this.kube.patch(TAKEOVERS, target, { type: 'merge', body: { spec } });
  }

  async #sweep(): Promise<void> {
    const answer = await sendEvent(this.#takeover?.port ?? 0, SWEEP, {});
    this.#answer = `${answer.status} ${await answer.text()}`;
  }

  /** The plan of a Takeover that was just made; its id. */
  protected async confirmPlan(name: string): Promise<string> {
    await this.#sweep();
    return confirmPlan(this.kube, { namespace: this.namespace, name });
  }

  /** Every function is woken again and again until it is so. */
  async wakeUntil(
    name: string,
    what: string,
    isSo: (status: TakeoverStatus) => boolean | Promise<boolean>,
    { died = async () => undefined }: Followed = {},
  ): Promise<void> {
    const done = new AbortController();
    const waking = this.wakeOthers(done.signal);
    try {
      const look = async (): Promise<boolean> => {
        await this.#sweep();
        await died();
        const status = await this.status(name);
        if (isLate(status)) this.#aheadMs += LATE_MS;
        return isSo(status);
      };
      await until(what, look, this.withinMs);
    } catch (cause) {
      const status = { ...(await this.status(name)), plan: undefined };
      throw new Error(`${this.#answer} ${JSON.stringify(status, null, 1)}`, { cause });
    } finally {
      done.abort();
      await waking;
    }
  }

  /** Carried out by processes that die as they are told, each in place of the one before. */
  async wakeUntilDone(name: string, told: Deaths, witness = told.witness): Promise<void> {
    await this.startTakeover(witness);
    const followed = this.followed(told, witness);
    await this.wakeUntil(name, 'it to be done', ({ phase }) => phase === 'Done', followed);
  }

  /** Another one takes the place of one that has died. */
  followed(told: Deaths, witness = told.witness): Followed {
    const died = async (): Promise<void> => {
      if (!told.isDead) return;
      await this.startTakeover(witness);
      told.isDead = false;
    };
    return { died };
  }

  async namesOf(ref: ResourceRef): Promise<readonly string[]> {
    const { items } = await this.kube.list(ref, { namespace: this.namespace });
    return items.map(({ metadata }) => metadata.name).toSorted();
  }

  async replicasOf(deployment: string): Promise<number> {
    const found = await this.kube.get(DEPLOYMENTS, {
      namespace: this.namespace,
      name: deployment,
    });
    return Number(Object(found?.['spec']).replicas);
  }
}

/** Exactly the plan of this id, with a death before and after each of these writes. */
export async function expectTakenOver(
  place: MortalPlace,
  name: string,
  id: string,
  { seen }: Deaths,
  writes: readonly string[],
): Promise<void> {
  const { plan, work, steps = [], conditions } = await place.status(name);
  expect([plan?.id, work?.plan]).toEqual([id, id]);
  expect(steps.map((step) => step.name)).toEqual(plan?.steps.map((step) => step.name));
  const complete = conditions?.find(({ type }) => type === 'Complete');
  expect(complete).toMatchObject({ status: 'True', reason: 'TakenOver' });
  expect([...seen].toSorted()).toEqual(
    writes.flatMap((one) => [`after ${one}`, `before ${one}`]).toSorted(),
  );
}
