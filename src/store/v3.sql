-- What an answer took, where its provider says: tokens, and millionths of the currency that prices are in.
ALTER TABLE attempts ADD COLUMN tokens_in INTEGER;
ALTER TABLE attempts ADD COLUMN tokens_out INTEGER;
ALTER TABLE attempts ADD COLUMN money_millionths INTEGER;
