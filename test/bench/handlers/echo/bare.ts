// The floor under every cold start: node's own HTTP server that answers 204 and nothing else.
import { createServer } from 'node:http';

createServer((_request, response) => response.writeHead(204).end()).listen(
  Number(process.env['PORT']),
);
