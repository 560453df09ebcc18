// What a workspace has besides the contents of its files.

export const workspaceExtras = `
ALTER TABLE workspaces ADD COLUMN extras TEXT;
`;
