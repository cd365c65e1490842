// A server of the TypeScript SDK, over standard input and output: `order` sends one form and returns the answer.

const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");

const server = new McpServer({ name: "typescript", version: "1.0.0" });

server.registerTool("order", { description: "Ask for an order" }, async () => {
  const answer = await server.server.elicitInput({
    message: "Your order?",
    requestedSchema: {
      type: "object",
      properties: {
        size: { type: "string", enum: ["small", "large"], title: "Size" },
        guests: { type: "integer", minimum: 1, default: 2 },
      },
      required: ["size"],
    },
  });
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
});

server.connect(new StdioServerTransport());
