// The control plane that runs on this machine goes to a step of our own kinds.
import { systemClock } from '../../../../shared/clock.ts';
import { openKube } from '../../../../shared/kube/client.ts';
import { kubeconfigOfPlane } from '../watch/address.ts';
import type { Step } from './step-names.ts';
import { runningConversion, takeStep, untilBelieved } from './take-step.ts';

/** Those of whoever started it: what a step says no more goes. */
const IDENTITY = { userAgent: 'ballast-local', fieldManager: 'ballast-local' };

/** `plane` is its directory, where there are several. */
export async function runStep(step: Step, plane: string | undefined): Promise<void> {
  const kubeconfigPath = await kubeconfigOfPlane(plane);
  const kube = openKube({ kubeconfigPath, ...IDENTITY });
  try {
    await takeStep(kube, step, await runningConversion(kube));
    await untilBelieved(kube, systemClock);
  } finally {
    await kube.close();
  }
}
