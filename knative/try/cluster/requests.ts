// Follows a request to `npm run cluster`.
import type { Request } from './options.ts';
import { knativeStages } from './knative-stages.ts';
import { monitoringStage } from './monitoring/stage.ts';
import { endCluster, showLogs, showStatus } from './running.ts';
import { storageStage } from './storage/stage.ts';
import { holdUp } from './up.ts';

/** Resolves with the exit code. */
export async function follow(
  request: Exclude<Request, { readonly do: 'help' }>,
  print: (text: string) => void,
): Promise<number> {
  if (request.do === 'up') {
    const { nodes, subnet, withKnative, withS3, withPrometheus } = request;
    const wanted = [
      ...(withKnative ? knativeStages : []),
      ...(withS3 ? [storageStage] : []),
      ...(withPrometheus ? [monitoringStage] : []),
    ];
    return holdUp({ nodes, subnet, print, stages: wanted });
  }
  if (request.do === 'status') await showStatus(request.subnet, print);
  if (request.do === 'logs') await showLogs(request.of, request.subnet, print);
  if (request.do === 'down') await endCluster(request.subnet, print);
  return 0;
}
