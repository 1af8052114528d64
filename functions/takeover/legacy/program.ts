// Tells by a container which program it runs: by its command, and by its image where it has none.
// Pure.
import { textOf } from '../../../shared/kube/json.ts';

export type RunsIn = (container: {
  readonly image?: unknown;
  readonly command?: unknown;
}) => boolean;

export const runsProgram =
  (program: string): RunsIn =>
  ({ image, command }) => {
    if (Array.isArray(command)) return lastPart(textOf(command[0])) === program;
    return lastPart(textOf(image)).replace(/[:@].*$/, '') === program;
  };

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
