"""Who may do what: rules, the reading of command lines, and the judgement (S-1). Pure."""
