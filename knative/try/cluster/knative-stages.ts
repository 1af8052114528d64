// The stages that bring Knative and our functions, in this order. `--without-knative` leaves them
// out.
import { functionsStage } from './functions/stage.ts';
import { knativeStage } from './knative/stage.ts';
import type { Stage } from './stage.ts';

export const knativeStages: readonly Stage[] = [knativeStage, functionsStage];
