// The page of `console` as docs/console.md says that people reach it: an instance that stays awake,
// and a port that kubectl forwards to it.
import { request } from 'undici';
import type { Problem } from '../../../../functions/console/answers.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { conditionOf, eventually, type Rig } from './rig.ts';
import { OURS } from './shown-feed.ts';
import type { KnativeWorld } from './world.ts';

const SERVICES = { group: 'serving.knative.dev', version: 'v1', resource: 'services' } as const;
const CONSOLE = { namespace: OURS, name: 'console' } as const;
const SCALE = 'autoscaling.knative.dev/min-scale';

export class ConsolePage {
  readonly #rig: Rig;
  readonly #kubectl: Kubectl;

  private constructor(rig: Rig, kubectl: Kubectl) {
    this.#rig = rig;
    this.#kubectl = kubectl;
  }

  static async open({ rig, kubeconfigPath }: KnativeWorld, home: string): Promise<ConsolePage> {
    const { metadata } = await scale(rig, '1');
    await eventually(() => podOf(rig, Number(metadata['generation'])));
    return new ConsolePage(rig, await Kubectl.at(kubeconfigPath, home));
  }

  /** Each time by the pod that is there: Knative may have started two, and ends one of them. */
  async problems(): Promise<readonly Problem[]> {
    const forward = await this.#kubectl.forward(OURS, await podOf(this.#rig), 8080);
    try {
      const answer = await request(`${forward.url}/api/state`);
      const { problems } = Object(await answer.body.json());
      return problems;
    } finally {
      forward.stop();
    }
  }

  /** It may sleep again. */
  async close(): Promise<void> {
    await scale(this.#rig, null);
  }
}

const scale = (rig: Rig, instances: string | null): Promise<KubeObject> => {
  const body = { spec: { template: { metadata: { annotations: { [SCALE]: instances } } } } };
  return rig.kube.patch(SERVICES, CONSOLE, { type: 'merge', body });
};

/** The name of a ready pod of its newest revision, which knows of this generation at least. */
async function podOf(rig: Rig, generation = 0): Promise<string> {
  const { status } = Object(await rig.kube.get(SERVICES, CONSOLE));
  const revision = status.latestReadyRevisionName;
  if (status.observedGeneration < generation || revision !== status.latestCreatedRevisionName) {
    throw new Error('its newest revision is not ready');
  }
  const pods = await rig.pods(`serving.knative.dev/revision=${revision}`, OURS);
  const pod = pods.find(
    (one) =>
      one.metadata.deletionTimestamp === undefined && conditionOf(one, 'Ready')?.status === 'True',
  );
  if (pod === undefined) throw new Error(`${revision} has no pod that is ready`);
  return pod.metadata.name;
}
